/** Run as somebody who is not root: what an agent closes to hide it, and why the next start is refused, as JSON. `node … <folder>` */
import { chmodSync, mkdirSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createTestSandboxes, never, run } from '@tendon/runtime/testing';
import { openDriver } from '../faults/sandbox-drivers.ts';
import { layProject, NAMES } from './protected-paths.ts';

const [folder = ''] = process.argv.slice(2);
const project = layProject(folder);
mkdirSync(join(project.folder, 'below/inner'), { recursive: true });
execFileSync('git', ['init', '-q', join(project.folder, 'below/inner')]);
const { runtimes, close } = createTestSandboxes(openDriver('local', NAMES), {
  folder,
  workspaceOf: async () => ({ hostPath: project.folder }),
});
const refusals: string[] = [];
for (const path of ['.git', 'below', 'below/inner/.git']) {
  await run(await runtimes.acquire('c', { signal: never }), `chmod 000 ${path}`);
  await runtimes.stop('c');
  const started = runtimes.acquire('c', { signal: never }).then(() => 'it started');
  refusals.push(await started.catch((error: unknown) => String(error)));
  await runtimes.stop('c');
  chmodSync(join(project.folder, path), 0o755);
}
await close();
process.stdout.write(JSON.stringify(refusals));
