/** Run as somebody who is not root: one sandbox, one command, what became of it as JSON. `node ordinary-user.ts <folder>` */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalDriver } from '../../packages/runtime/src/drivers/local/local-driver.ts';
import { createTestSandboxes, executorFolder, never, run } from '../../packages/runtime/src/sandbox.test-support.ts';

const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }), { folder: process.argv[2] ?? '' });
const runtime = await sandboxes.runtimes.acquire('ordinary', { signal: never });
await run(runtime, 'touch file; kill -9 -1');
const { output } = await run(runtime, 'stat -c %U file; echo alive');
const owner = statSync(join(sandboxes.workspace, 'file')).uid;
await sandboxes.close();
process.stdout.write(JSON.stringify({ output, owner, strength: runtime.strength }));
