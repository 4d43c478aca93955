import { dirname } from 'node:path';
import type { SandboxInfo } from '@tendon/protocol';
import { measureFolder, type FolderSize } from '@tendon/protocol/node';
import { holdFolder } from '../workspace/held-folder.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { memoryOf, processesOf, isExecutorSuspended } from '../sandbox/process-memory.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';

/** What only the process that holds a sandbox knows about it. */
export interface HeldSandbox {
  readonly strength: string;
  readonly idleSeconds: number;
  readonly busyWith: string | undefined;
  /** In its place. */
  readonly isSuspended: boolean;
  readonly ports: () => Promise<readonly number[]>;
}

/** For all sandboxes together. */
const DISK_MS = 5000;
const MAX_ENTRIES = 200_000;
const NOTHING: FolderSize = { bytes: 0, entries: 0, isComplete: true };

/** Every known sandbox with its current usage, newest first; without the titles of conversations. */
export async function listSandboxes(
  context: SandboxContext,
  heldBy: (conversationId: string) => HeldSandbox | undefined,
): Promise<readonly SandboxInfo[]> {
  const found: SandboxInfo[] = [];
  const end = performance.now() + DISK_MS;
  for await (const record of context.records.all()) {
    const disk = await diskOf(context, record, end - performance.now());
    if (record.state === 'ended' && disk.own === 0) continue;
    found.push(await describe(context, record, disk, heldBy(record.conversation_id)));
  }
  return found;
}

async function describe(
  context: SandboxContext,
  record: SandboxRecord,
  disk: FolderSize,
  held: HeldSandbox | undefined,
): Promise<SandboxInfo> {
  const pids = record.state === 'live' && context.places.reaches(record) ? await processesOf(record.handle) : [];
  const isHere = context.places.reaches(record);
  const state = isHere ? stateOf(context, record, held) : await remoteStateOf(context, record);
  const isUp = record.state === 'starting' || state === 'awake' || (record.state === 'live' && state === 'asleep');
  const age = context.clock.now().getTime() - Date.parse(record.started_at);
  return {
    conversation_id: record.conversation_id,
    title: null,
    driver: record.driver,
    host: record.host?.name ?? null,
    incarnation: record.incarnation,
    state,
    strength: held?.strength ?? null,
    workspace: record.workspace,
    started_at: record.started_at,
    uptime_seconds: isUp ? Math.max(0, Math.floor(age / 1000)) : 0,
    idle_seconds: held?.idleSeconds ?? null,
    awake_for: held?.busyWith ?? null,
    memory_bytes: memoryOf(pids),
    processes: pids.length,
    disk_bytes: disk.bytes,
    disk_is_complete: disk.isComplete,
    ports: [...((await held?.ports().catch(() => [])) ?? [])],
  };
}

/** The state of a sandbox on another machine: it is running as far as is known while another living server has its conversation. */
async function remoteStateOf({ owners }: SandboxContext, record: SandboxRecord): Promise<SandboxInfo['state']> {
  if (record.state !== 'live' && record.state !== 'starting') return record.state === 'replaced' ? 'dead' : record.state;
  return (await owners.mayTouch(record.conversation_id)) ? 'dead' : 'awake';
}

/** Whether a sandbox is suspended. The processes of a remote one are out of reach: only the server that suspended it knows. */
function stateOf({ driver, reapers }: SandboxContext, record: SandboxRecord, held: HeldSandbox | undefined): SandboxInfo['state'] {
  if (record.state === 'replaced') return 'dead';
  if (record.state !== 'live') return record.state;
  if (!reapers.isAlive(record)) return 'dead';
  return (driver.remote ? held?.isSuspended : isExecutorSuspended(record.handle)) ? 'asleep' : 'awake';
}

/** Measures the disk usage; `own` counts the entries outside of the workspace. */
async function diskOf(context: SandboxContext, record: SandboxRecord, leftMs: number): Promise<FolderSize & { readonly own: number }> {
  if (context.driver.remote || !context.places.reaches(record)) return { bytes: 0, own: 0, entries: 0, isComplete: false };
  const options = { maxEntries: MAX_ENTRIES, deadlineMs: leftMs };
  const own = await measureFolder(dirname(context.places.foldersOf(record).of(record.conversation_id, record.incarnation).home), options);
  const held = await holdFolder(record.workspace).catch(() => undefined);
  const workspace = held === undefined ? NOTHING : await measureFolder(held.place, options).finally(() => held.close());
  return {
    bytes: own.bytes + workspace.bytes,
    own: own.entries,
    entries: own.entries + workspace.entries,
    isComplete: own.isComplete && workspace.isComplete,
  };
}
