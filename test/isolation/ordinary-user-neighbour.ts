/** Run as somebody who is not root: two sandboxes, one takes all it can of each thing; what the other got of everything, as JSON. `node … <folder>` */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, never, run, runAction } from '@tendon/runtime/testing';
import { ESCAPE_LIMITS } from './escape/open-hostile.ts';
import { askTheNeighbour } from './escape/race-the-server.ts';
import { NEIGHBOUR, NEIGHBOUR_WORKS } from './escape/threats/neighbour.ts';

const PROBE_SECONDS = 50;
/** Memory is limited for each process here, and an executor has to start in it. */
const LIMITS = { ...ESCAPE_LIMITS, memoryBytes: 1024 ** 3 };

const [folder = ''] = process.argv.slice(2);
const workspaceOf = (id: string): string => {
  const path = join(folder, id);
  mkdirSync(path, { recursive: true });
  return path;
};
const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder(), limits: LIMITS }), {
  folder,
  workspaceOf: async (id) => ({ hostPath: workspaceOf(id) }),
});
const [hostile, other] = await Promise.all(['hostile', 'other'].map((id) => sandboxes.runtimes.acquire(id, { signal: never })));
const write = (name: string, text: string | Uint8Array, into = hostile!) => into.files.write(name, Buffer.from(text), { signal: never });
for (const each of [hostile!, other!]) {
  await write('attempt.py', readFileSync(join(import.meta.dirname, 'escape/attempt.py')), each);
  await write('bait.json', JSON.stringify(LIMITS), each);
}
await write('works.py', `from attempt import *\n${NEIGHBOUR_WORKS}`, other);
const got: Record<string, string> = {};
for (const { id, probe } of NEIGHBOUR) {
  await write(`${id}.py`, `from attempt import *\n${probe}`);
  const taking = hostile!.execute(runAction(hostile!, `python3 ${id}.py`, { timeout: PROBE_SECONDS }), { signal: never });
  got[id] = await askTheNeighbour(sandboxes.runtimes);
  await taking;
  await run(hostile!, 'rm -rf rubbish taken let-go');
}
await sandboxes.close();
process.stdout.write(JSON.stringify(got));
