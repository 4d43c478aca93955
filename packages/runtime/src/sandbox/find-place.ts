import { fstatSync } from 'node:fs';
import type { Probe } from '../drivers/driver.ts';
import { holdFolder, type HeldFolder } from '../workspace/held-folder.ts';
import type { SandboxContext } from './sandbox-context.ts';
import type { SandboxRecord } from './sandbox-record.ts';
import { inPhase, StartFailed } from './start-phase.ts';

/** What a conversation's sandbox works on, and how it is held inside. */
export interface Place {
  readonly workspace: string;
  /** A sandbox that is opened with it closes it at its end; otherwise the caller closes it. */
  readonly held: HeldFolder | undefined;
  readonly isReadOnly: boolean;
  readonly probe: Probe & { readonly available: true };
}

const DEADLINE_MS = { workspace: 10_000, probe: 30_000 } as const;

/** `record`: of the conversation's last sandbox. Rejects with `StartFailed`. */
export async function findPlace(
  context: SandboxContext,
  conversationId: string,
  record: SandboxRecord | undefined,
  signal: AbortSignal,
): Promise<Place> {
  const probe = await inPhase({ name: 'probing the machine', deadlineMs: DEADLINE_MS.probe, signal }, () =>
    context.driver.probe(addressIn(context, record)),
  );
  if (!probe.available) throw new StartFailed('probing the machine', { cause: `${probe.reason}. ${probe.fix}` });
  return inPhase({ name: 'finding the workspace', deadlineMs: DEADLINE_MS.workspace, signal }, async (within) => {
    const found = await context.workspaceOf(conversationId);
    if (found === undefined) throw new Error('there is no such conversation');
    const { hostPath: workspace, isReadOnly = false } = found;
    if (isReadOnly && !context.driver.mountsReadOnly) throw new Error('sandboxes of this server cannot mount a workspace read-only');
    const held = context.driver.remote ? undefined : await holdWorkspace(context, workspace, record);
    if (within.aborted) held?.close(); // nobody waits for it any more
    return { workspace, held, isReadOnly, probe };
  });
}

/** The host of a remote sandbox, where its conversation stays as long as this server knows it. */
export function addressIn({ driver, places }: SandboxContext, record: SandboxRecord | undefined): string | undefined {
  if (record === undefined || record.driver !== driver.name || !driver.remote) return undefined;
  if (record.host?.kind !== 'address') return driver.remote.firstHost;
  return places.reaches(record) ? record.host.name : undefined;
}

/** The same on every machine that has it in a shared file system, and hardly the same of two folders. */
export function workspaceIdentity(held: HeldFolder): string {
  const { ino, birthtimeMs } = fstatSync(held.descriptor());
  return `${ino}:${Math.trunc(birthtimeMs)}`;
}

/** The folder as the last sandbox had it: on another machine something else may have its path. */
async function holdWorkspace({ places }: SandboxContext, path: string, record: SandboxRecord | undefined): Promise<HeldFolder> {
  const isRemote = record?.host?.kind === 'machine' && !places.reaches(record);
  const held = await holdFolder(path).catch((error: unknown) => {
    if (isRemote) return undefined;
    throw error;
  });
  if (held !== undefined && (!isRemote || workspaceIdentity(held) === record.workspace_is)) return held;
  held?.close();
  throw new Error(
    `the conversation works in the folder ${path} of the machine ${record!.host!.name}, which this server cannot reach. Its messages are here, its files are there: start a server on that machine, or put workspaces on storage that all machines share`,
  );
}
