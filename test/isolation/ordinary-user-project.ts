/** Run as somebody who is not root: an agent in a project of this user; what it left as JSON. `node … <folder> <driver> <starts>` */
import { join } from 'node:path';
import { createTestSandboxes, never, run } from '@tendon/runtime/testing';
import { openDriver } from '../faults/sandbox-drivers.ts';
import { layProject, leavings, NAMES, swapInnerProject } from './protected-paths.ts';

const [folder = '', driver = 'local', starts = ''] = process.argv.slice(2);
const project = layProject(folder);
const before = project.names();
const sandboxes = createTestSandboxes(openDriver(driver, NAMES), { folder, workspaceOf: async () => ({ hostPath: project.folder }) });
const runtime = await sandboxes.runtimes.acquire('c', { signal: never });
const { output } = await run(runtime, leavings(join(folder, 'ran-on-the-host')));
project.git('status');
const commit =
  'echo x >> file; git add file; git -c user.name=a -c user.email=a@b commit -qm second; git checkout -q -b third; git log --format=%s';
const commits = (await run(runtime, commit)).output;
await sandboxes.runtimes.stop('c');
const names = project.names().filter((name) => !before.includes(name));
const hasRun = project.hasRun();
const swapped = await swapInnerProject(openDriver(driver, NAMES), { base: join(folder, 'base') }, Number(starts));
await sandboxes.close();
process.stdout.write(JSON.stringify({ output, hasRun, commits, names, swapped }));
