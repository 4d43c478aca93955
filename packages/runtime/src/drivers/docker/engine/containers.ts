import { setTimeout as delay } from 'node:timers/promises';
import type { EngineClient } from './engine-client.ts';
import { EngineError } from './engine-error.ts';
import { dirname } from 'node:path';
import type { SandboxSpec } from '../../driver.ts';

export interface Listed {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface ContainerState {
  readonly Running: boolean;
  readonly Paused: boolean;
  readonly Pid: number;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
}

const REMOVE_DEADLINE_MS = 30_000;
const AGAIN_MS = 50;
const LOG_LINES = 12;
const MAX_LOG = 4096;
const LOG_DEADLINE_MS = 5000;

/** All of our containers that the engine has, in any state. */
export function listContainers(engine: EngineClient, deadlineMs?: number): Promise<readonly Listed[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [INCARNATION_LABEL] }));
  return engine.json({ method: 'GET', path: `/containers/json?all=1&filters=${filters}`, ...(deadlineMs && { deadlineMs }) });
}

export interface Inspected {
  readonly State: ContainerState;
  /** Where its layers are on the host, as far as the engine says. */
  readonly GraphDriver?: { readonly Data?: Readonly<Record<string, string>> | null };
}

/** `undefined` when there is no such container. */
export function inspect(engine: EngineClient, id: string, signal?: AbortSignal): Promise<Inspected | undefined> {
  return unlessMissing(engine.json<Inspected>({ method: 'GET', path: `/containers/${id}/json`, ...(signal && { signal }) }));
}

async function stateOf(engine: EngineClient, id: string): Promise<ContainerState | undefined> {
  return (await inspect(engine, id))?.State;
}

/** Kills what runs in it and removes it with its anonymous volumes; resolves when it is gone. A container that does not exist is no error. */
export async function removeContainer(engine: EngineClient, id: string): Promise<void> {
  const state = await stateOf(engine, id);
  // A frozen process takes no signal, not even this one.
  if (state?.Paused) await engine.json({ method: 'POST', path: `/containers/${id}/unpause` }).catch(() => {});
  const end = performance.now() + REMOVE_DEADLINE_MS;
  while ((await stateOf(engine, id)) !== undefined) {
    try {
      const path = `/containers/${id}?force=1&v=1`;
      await unlessMissing(engine.json({ method: 'DELETE', path, deadlineMs: REMOVE_DEADLINE_MS }));
    } catch (error) {
      // 409: somebody is removing it already, or it changes its state just now.
      if (!(error instanceof EngineError) || performance.now() > end) throw error;
      await delay(AGAIN_MS);
    }
  }
}

/** The last lines that it has printed, without the engine's framing. */
export async function logsOf(engine: EngineClient, id: string): Promise<string> {
  const path = `/containers/${id}/logs?stdout=1&stderr=1&tail=${LOG_LINES}`;
  const bytes = await engine.bytes({ method: 'GET', path, deadlineMs: LOG_DEADLINE_MS });
  const lines: string[] = [];
  // Frames of a stream without a terminal: kind, three zeros, length, text.
  for (let at = 0; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32BE(at + 4);
    lines.push(bytes.toString('utf8', at + 8, at + 8 + length));
    at += 8 + length;
  }
  return lines.join('').trim().slice(-MAX_LOG);
}

/** The same of a container whose process is gone: the engine counts it as running until it has copied what was printed. */
export async function finalLogsOf(engine: EngineClient, id: string): Promise<string> {
  const path = `/containers/${id}/wait?condition=not-running`;
  await engine.json({ method: 'POST', path, deadlineMs: LOG_DEADLINE_MS }).catch(() => undefined); // then as far as they are there
  return logsOf(engine, id);
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}

const PREFIX = 'dev.tendon';
export const INCARNATION_LABEL = `${PREFIX}.incarnation`;
export const OWNER_LABEL = `${PREFIX}.owner`;
export const UID_LABEL = `${PREFIX}.uid`;

/** Where the folders of all sandboxes of a server are: the name of the server that owns them. */
export function ownerOf({ folders }: SandboxSpec): string {
  return dirname(dirname(folders.home));
}

/** These find a container without its record, for a server or for a person (`docker ps --filter label=…`). */
export function labelsOf(spec: SandboxSpec): Readonly<Record<string, string>> {
  return {
    [OWNER_LABEL]: ownerOf(spec),
    [UID_LABEL]: String(process.getuid?.() ?? 0),
    [`${PREFIX}.conversation`]: spec.conversationId,
    [INCARNATION_LABEL]: spec.incarnation,
    [`${PREFIX}.lease-seconds`]: String(spec.leaseSeconds),
  };
}
