import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const built = new Set<string>();

/** The program `tendon` as it is shipped, built with its executor, once a process, if sources have changed. It starts in a third of the CPU time of its sources. */
export function builtTendon(): string {
  build('bundle');
  return join(root, 'packages/cli/dist/main.js');
}

/** A server that tests kill, built in the same way. */
export function builtFaults(
  name: 'faulty-server' | 'sandbox-server' | 'killed-fork' | 'killed-delivery' | 'killed-push' | 'killed-retention' | 'killed-erasure',
): string {
  build('faults');
  return join(root, `packages/testing/dist/faults/${name}.js`);
}

function build(target: string): void {
  if (!built.has(target))
    execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-stale', 'executor', target], { stdio: 'inherit' });
  built.add(target);
}
