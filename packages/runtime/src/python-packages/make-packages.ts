import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { installCommand, type PythonKind, shellQuote } from '@tendon/protocol/executor-api';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import { type OneOffSandbox, runInOneOffSandbox } from '../sandbox/one-off-sandbox.ts';
import type { Egress } from '../egress/egress.ts';
import type { MakeOptions, MakePackages } from './kernel-packages.ts';

const PREFIX = 'kernel-packages:';
const DEADLINE_SECONDS = 300;
const MAX_REASON = 2000;

export interface MakePackagesParts extends Pick<OneOffSandbox, 'context'> {
  /** Leads to registries and nowhere else. */
  readonly egress: Egress;
}

/** With pip in a sandbox of its own, whose workspace is where it comes to lie; moved into place when nothing runs there any more. */
export function makePackagesInSandbox({ context, egress }: MakePackagesParts): MakePackages {
  const sandbox = { context, egress, name: `${PREFIX}${context.places.tag}`, leaseSeconds: DEADLINE_SECONDS };
  return (kind, target, options) =>
    runInOneOffSandbox(sandbox, {
      signal: options.signal,
      work: (open) => install(open, kind, options),
      takeOut: (workspace) => moveIntoPlace(join(workspace, kind.tag), target),
    });
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
