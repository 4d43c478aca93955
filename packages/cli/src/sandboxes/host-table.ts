import type { SandboxHostInfo } from '@tendon/server/headless';
import { aligned } from '../terminal/aligned.ts';
import { printable } from '../terminal/printable.ts';
import { sizeOf } from '../terminal/size-of.ts';

const COLUMNS = ['HOST', 'STATE', 'SANDBOXES', 'FREE MEMORY', 'LOAD', 'VERSION', 'WHY'] as const;

/** For people, one line each. */
export function hostTable(hosts: readonly SandboxHostInfo[]): string {
  if (hosts.length === 0) return 'The sandboxes of this server are on its own machine (RUNTIME is not remote).';
  return aligned([COLUMNS, ...hosts.map(rowOf)]);
}

function rowOf({ address, isThere, refuses, version, description, capacity }: SandboxHostInfo): readonly string[] {
  return [
    address,
    isThere ? (capacity?.draining ? 'draining' : refuses === undefined ? 'open' : 'closed') : 'away',
    capacity ? `${capacity.sandboxes} of ${capacity.max_sandboxes}` : '-',
    capacity ? `${sizeOf(capacity.free_memory_bytes)} of ${sizeOf(capacity.memory_bytes)}` : '-',
    capacity ? capacity.load.toFixed(2) : '-',
    version ?? '-',
    printable(refuses ?? description ?? '-'),
  ];
}
