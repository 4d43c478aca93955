import { openHosts, type Config, type SandboxHostInfo } from '@tendon/server/headless';
import { sizeOf } from '../terminal/size-of.ts';
import type { Finding } from './check-machine.ts';

/** Checks whether each executor host answers and takes more sandboxes, and what capacity it has left. Starts nothing. */
export async function checkHosts({ runtime, executorHosts }: Pick<Config, 'runtime' | 'executorHosts'>): Promise<readonly Finding[]> {
  const remote = openHosts({ executorHosts, runtime: 'remote' });
  return ((await remote?.hosts?.()) ?? []).map((host) => findingOf(host, runtime === 'remote'));
}

/** A host that is not in use is not a failure. */
function findingOf({ address, isThere, refuses, version, capacity }: SandboxHostInfo, isUsed: boolean): Finding {
  const name = `host ${address}`;
  if (!isThere) return { name, ok: !isUsed, says: refuses ?? 'it does not answer', ...(!isUsed && { isNote: true }) };
  const left = capacity && `${capacity.sandboxes} of ${capacity.max_sandboxes} sandboxes, ${sizeOf(capacity.free_memory_bytes)} free`;
  const says = [`Tendon ${version}`, left, refuses && `takes no new conversations: ${refuses}`].filter(Boolean).join(', ');
  return { name, ok: true, says, ...(refuses !== undefined && { isNote: true }) };
}
