import { lstat, mkdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { installCommand, OUTPUT_LIMITS, type PythonKind, shellQuote } from '@tendon/protocol/executor-api';
import { newIncarnation } from '../incarnation.ts';
import { endSandbox, letGo } from '../sandbox/end-sandbox.ts';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import type { SandboxContext, SandboxLease, SandboxTools } from '../sandbox/sandbox-context.ts';
import { isThere } from '../sandbox/sandbox-record.ts';
import type { Egress } from '../egress/egress.ts';
import type { MakeOptions, MakePackages } from './kernel-packages.ts';

/**
 * The sandbox has a record like all others, under a name that no conversation has, and no other server: so a crash leaves nothing that is
 * not found.
 */
const PREFIX = 'kernel-packages:';
const DEADLINE_SECONDS = 300;
const MAX_REASON = 2000;

export interface MakePackagesParts {
  readonly context: SandboxTools & Omit<SandboxLease, 'renewsLease'>;
  /** Leads to registries and nowhere else. */
  readonly egress: Egress;
}

/** With pip in a sandbox of its own, whose workspace is where it comes to lie; moved into place when nothing runs there any more. */
export function makePackagesInSandbox({ context, egress }: MakePackagesParts): MakePackages {
  const name = `${PREFIX}${context.places.tag}`;
  const { scratch } = context.places.own.of(name, '');
  const own: SandboxContext = {
    ...context,
    egress,
    kernelPackages: undefined,
    plugins: [],
    checkpoints: false,
    output: OUTPUT_LIMITS,
    secretsFor: async () => new Map(),
    workspaceOf: async () => ({ hostPath: await realpath(scratch) }),
    planOf: () => ({ incarnation: newIncarnation(), leaseSeconds: DEADLINE_SECONDS, noOutputTimeoutSeconds: DEADLINE_SECONDS }),
    renewsLease: () => true,
  };

  async function removeAll(): Promise<void> {
    const record = await own.records.get(name);
    if (isThere(record)) await endSandbox(own, record, 'its work is done');
    await own.places.own.removeSandbox(own.places.own.nameOf(name));
    await own.records.delete(name);
  }

  return async (kind, target, options) => {
    await removeAll(); // of an earlier server that was killed
    await mkdir(scratch, { recursive: true, mode: 0o755 });
    try {
      const open = await openSandbox(own, name, { signal: options.signal, onPhase: () => {}, admit: (start) => start() });
      try {
        await install(open, kind, options);
      } finally {
        open.watch.report('its work is done');
        await letGo(open);
        await endSandbox(own, open.record, 'its work is done');
      }
      await moveIntoPlace(join(scratch, kind.tag), target);
    } finally {
      await removeAll();
    }
  };
}

async function install({ client, record }: OpenSandbox, kind: PythonKind, { signal, output }: MakeOptions): Promise<void> {
  output(`Installing ipykernel for Python ${kind.version} (once for all conversations) …\n`);
  const command = `umask 022; sh -c ${shellQuote(installCommand(kind, '/workspace', ['python3', '/usr/bin/python3', 'python']))} && sync`;
  const action = { action: 'run', args: { command }, timeout: DEADLINE_SECONDS };
  const request = {
    key: `${record.conversation_id}:${record.incarnation}`,
    digest: record.incarnation,
    incarnation: record.incarnation,
    action,
    outputFrom: 0,
  };
  for await (const line of client.execute(request, { signal })) {
    if (line.type === 'output') output(line.text);
    else if (line.type !== 'outcome') throw new Error(line.reason.slice(0, MAX_REASON));
    else if (exitCodeOf(line.observation) === 0) return;
    else throw new Error(line.observation.content.slice(-MAX_REASON).trim() || 'no pip was found');
  }
  throw new Error('the sandbox in which it was installed has ended');
}

function exitCodeOf({ extras }: { readonly extras?: unknown }): unknown {
  return (extras as { readonly metadata?: { readonly exit_code?: unknown } } | undefined)?.metadata?.exit_code;
}

async function moveIntoPlace(made: string, target: string): Promise<void> {
  if (!(await lstat(made)).isDirectory()) throw new Error('what was installed is no folder');
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  await rm(target, { recursive: true, force: true });
  await rename(made, target);
}
