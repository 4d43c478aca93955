/** Run as somebody who is not root: one sandbox, one command, what became of it as JSON. `node ordinary-user.ts <folder> [driver]` */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createTestSandboxes, never, run } from '@tendon/runtime/testing';
import { openDriver } from '../faults/sandbox-drivers.ts';

const [folder = '', driver = 'local'] = process.argv.slice(2);
const sandboxes = createTestSandboxes(openDriver(driver), { folder });
const runtime = await sandboxes.runtimes.acquire('ordinary', { signal: never });
await run(runtime, 'touch file; kill -9 -1');
const { output } = await run(runtime, 'stat -c %U file; echo alive');
const namespaces = (await run(runtime, 'unshare --user true')).exitCode === 0 ? 'open' : 'closed';
const owner = statSync(join(sandboxes.workspace, 'file')).uid;
await sandboxes.close();
process.stdout.write(JSON.stringify({ output, namespaces, owner, strength: runtime.strength }));
