import { mkdir, realpath } from 'node:fs/promises';
import { OUTPUT_LIMITS } from '@tendon/protocol/executor-api';
import { newIncarnation } from '../incarnation.ts';
import type { Egress } from '../egress/egress.ts';
import { detachSandbox, endSandbox } from './end-sandbox.ts';
import type { OpenSandbox } from './hold-sandbox.ts';
import { openSandbox, type OpenOptions } from './open-sandbox.ts';
import { askedOf } from './reapers.ts';
import type { SandboxContext, SandboxLease, SandboxTools } from './sandbox-context.ts';
import { isThere } from './sandbox-record.ts';

const DONE = 'its work is done';
/** Of a sandbox on another machine, which is given a folder there. */
const REMOTE_WORKSPACE = '/workspace';

/** For work that is no conversation's: nothing of a user is in such a sandbox, and it ends with its work. */
export interface OneOffSandbox {
  readonly context: SandboxTools & Omit<SandboxLease, 'renewsLease'>;
  /** What its record is stored under, as those of all others are, so that a crash leaves nothing that is not found: a name that no conversation has, and no other server. */
  readonly name: string;
  readonly egress: Egress;
  /** Without a server it ends after so long. */
  readonly leaseSeconds: number;
}

export interface OneOffWork<T> extends Partial<Pick<OpenOptions, 'admit'>> {
  readonly signal: AbortSignal;
  readonly work: (open: OpenSandbox) => Promise<T>;
  /** Called when nothing runs there any more; what was its workspace is removed next. */
  readonly takeOut?: (workspace: string) => Promise<void>;
}

/** One at a time for each name. Resolves when nothing of the sandbox is left. */
export async function runInOneOffSandbox<T>(
  sandbox: OneOffSandbox,
  { signal, work, takeOut, admit = (start) => start() }: OneOffWork<T>,
): Promise<T> {
  const { name } = sandbox;
  const { driver, places } = sandbox.context;
  const { scratch } = places.own.of(name, '');
  const own = contextOf(sandbox, scratch);
  await removeAll(own, name); // of an earlier server that was killed
  if (driver.remote === undefined) await mkdir(scratch, { recursive: true, mode: 0o755 });
  try {
    const open = await openSandbox(own, name, { signal, onPhase: () => {}, admit });
    let result: T;
    try {
      result = await work(open);
    } finally {
      open.watch.report(DONE);
      await detachSandbox(open);
      await endSandbox(own, open.record, DONE);
    }
    await takeOut?.(scratch);
    return result;
  } finally {
    await removeAll(own, name);
  }
}

function contextOf({ context, egress, leaseSeconds }: OneOffSandbox, scratch: string): SandboxContext {
  return {
    ...context,
    egress,
    leaseSeconds,
    kernelPackages: undefined,
    plugins: [],
    checkpoints: false,
    output: OUTPUT_LIMITS,
    secretsFor: async () => new Map(),
    workspaceOf: async () => ({ hostPath: context.driver.remote ? REMOTE_WORKSPACE : await realpath(scratch) }),
    planOf: () => ({ incarnation: newIncarnation(), leaseSeconds, noOutputTimeoutSeconds: leaseSeconds }),
    renewsLease: () => true,
  };
}

async function removeAll(own: SandboxContext, name: string): Promise<void> {
  const record = await own.records.get(name);
  if (isThere(record)) await endSandbox(own, record, DONE);
  await own.places.own.removeSandbox(own.places.own.nameOf(name));
  if (record?.driver === own.driver.name) await own.driver.forget?.(name, { workspace: true, ...askedOf(record, own.owners) });
  await own.egress.forget(name, { forGood: true });
  await own.records.delete(name);
}
