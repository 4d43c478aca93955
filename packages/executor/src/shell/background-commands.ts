import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { textArgument, type ActionHandler, type ActionRequest, errorObservation } from '../action-handler.ts';
import { runObservation } from './run-observation.ts';
import type { Session } from './session.ts';
import { signalDetached, spawnDetached, withSecrets, type DetachedOptions } from './detached-process.ts';

const MAX_RUNNING = 64;
/** Those that have ended among them: of older ones the output is removed. */
const MAX_KNOWN = 128;
const KILL_AFTER_MS = 3000;
/** Of one answer; a model is shown about as much. */
const MAX_READ_BYTES = 24 * 1024;
const MAX_COMMAND_SHOWN = 200;

interface BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly child: ChildProcess;
  readonly path: string;
  /** Of its output: what the agent puts at the path later is not read. */
  readonly log: number;
  /** In the words of a list. */
  ended: string | undefined;
}

/** What a `read` asks of them: the output of one from a byte on, or the list of all. */
export interface BackgroundRead {
  readonly id?: string;
  /** Default: the end of the output. */
  readonly offset?: number;
}

export interface BackgroundCommands {
  readonly run: ActionHandler;
  readonly kill: ActionHandler;
  readonly read: ActionHandler;
  close(): void;
}

/** `background` and `kill` of the first protocol: commands with ids, their output in files. Owns their processes. */
export function createBackgroundCommands(session: Session, options: DetachedOptions): BackgroundCommands {
  const known = new Map<string, BackgroundCommand>();
  let next = 0;
  let folder: string | undefined; // of the outputs, where commands can read them
  const running = () => [...known.values()].filter(({ ended }) => ended === undefined);

  const run: ActionHandler = ({ args, secrets }) => {
    if (running().length >= MAX_RUNNING)
      return Promise.resolve(errorObservation(`${MAX_RUNNING} background commands are running; kill one first.`));
    forgetOldest(known);
    const id = String(next++);
    folder ??= mkdtempSync(join(tmpdir(), 'tendon-background-'));
    const path = join(folder, `${id}.log`);
    const log = openSync(path, 'ax+', 0o600);
    const command = textArgument(args, 'command');
    const cwd = textArgument(args, 'cwd') || undefined;
    const child = spawnDetached(withSecrets(options, secrets), session.place, command, cwd, log);
    const started: BackgroundCommand = { id, command, child, path, log, ended: undefined };
    known.set(id, started);
    child.on('error', (error) => (started.ended ??= `could not be started: ${error.message}`));
    child.on('exit', (code, signal) => (started.ended ??= code === null ? `ended by ${signal}` : `ended with exit code ${code}`));
    const content = `It runs in the background as number ${id}: an action \`kill\` with this id ends it. Its output is in ${path}.`;
    const observation = runObservation(args, { content, exitCode: 0 }, session.place);
    return Promise.resolve({ ...observation, extras: { ...observation.extras, command_id: Number(id) } });
  };

  const kill: ActionHandler = async ({ args }) => {
    const id = String(args.id ?? '');
    const found = known.get(id);
    if (!found || found.ended !== undefined) return errorObservation(`No background command with id ${id} is running.`);
    await end(options, found.child);
    const observation = runObservation(
      { command: `kill ${id}` },
      { content: `Number ${id} of the background was ended.`, exitCode: 0 },
      session.place,
    );
    return { ...observation, extras: { ...observation.extras, command_id: Number(id) } };
  };

  const read: ActionHandler = ({ args }) => {
    const { id, offset } = backgroundRead(args) ?? {};
    const found = id === undefined ? undefined : known.get(id);
    if (id !== undefined && !found) return Promise.resolve(errorObservation(`There is no background command with id ${id}.`));
    const content = found ? outputOf(found, offset) : [...known.values()].map(lineOf).join('\n') || 'No background command was started.';
    return Promise.resolve({ observation: 'read', content, extras: { path: textArgument(args, 'path'), impl_source: 'default' } });
  };

  return {
    run,
    kill,
    read,
    close: () => {
      for (const { child, ended, log } of known.values()) {
        if (ended === undefined) signalDetached(options, child, 'SIGKILL');
        closeSync(log);
      }
      known.clear();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a `read` action asks of background commands; `undefined`: it asks for something else. */
export function backgroundRead(args: ActionRequest['args']): BackgroundRead | undefined {
  const { background } = args;
  if (typeof background !== 'object' || background === null) return undefined;
  const { id, offset } = background as { readonly id?: unknown; readonly offset?: unknown };
  const isOffset = typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0;
  return { ...(id !== undefined && { id: String(id) }), ...(isOffset && { offset }) };
}

/** Those that run stay. */
function forgetOldest(known: Map<string, BackgroundCommand>): void {
  for (const { id, ended, log, path } of known.values()) {
    if (known.size < MAX_KNOWN) return;
    if (ended === undefined) continue;
    closeSync(log);
    rmSync(path, { force: true });
    known.delete(id);
  }
}

function lineOf({ id, command, log, path, ended }: BackgroundCommand): string {
  const shown = command.length > MAX_COMMAND_SHOWN ? `${command.slice(0, MAX_COMMAND_SHOWN)}…` : command;
  return `${id}: ${shown.replaceAll('\n', ' ⏎ ')} (${ended ?? 'running'}, ${fstatSync(log).size} bytes of output in ${path})`;
}

function outputOf(found: BackgroundCommand, offset: number | undefined): string {
  const { size } = fstatSync(found.log);
  const from = Math.min(size, offset ?? Math.max(0, size - MAX_READ_BYTES));
  const bytes = Buffer.alloc(Math.min(MAX_READ_BYTES, size - from));
  const whole = wholeCharacters(bytes.subarray(0, readSync(found.log, bytes, 0, bytes.length, from)));
  const to = from + whole.length;
  const state = found.ended ?? 'running';
  return `${whole.toString('utf8')}\n[Number ${found.id}, ${state}: bytes ${from} to ${to} of ${size}. Read on from offset ${to}.]`;
}

/** Without the beginning of a character whose end is not there yet, so that the next part begins with it. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.at(-back)!;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return wanted > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

/** Asks the group to end, then makes it. */
function end(options: DetachedOptions, child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => signalDetached(options, child, 'SIGKILL'), KILL_AFTER_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      signalDetached(options, child, 'SIGKILL'); // what the leader left behind
      resolve();
    });
    signalDetached(options, child, 'SIGTERM');
  });
}
