/**
 * A server reduced to its sandboxes, to be killed: holds the state in the folder it is given, acquires one sandbox, dispatches one
 * action (a command, or an address to browse) and says so. `node sandbox-server.ts <folder> <driver> <command> <event id> <lease in seconds> <milliseconds until it is suspended>`
 */
import { mkdirSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { ACTIONS } from '@tendon/protocol';
import { APPENDED_AT, openDriver, openStorage } from './sandbox-drivers.ts';
import { createTestSandboxes, never, runAction } from '@tendon/runtime/testing';

// What both servers of this folder use may be bundled with either of them.
if (import.meta.main) {
  const [folder = '', driver = 'local', command = 'true', id = '0', lease = '600', idle = '600000'] = process.argv.slice(2);
  mkdirSync(join(folder, 'workspace'), { recursive: true });
  const storage = await openStorage(folder);
  const { runtimes } = createTestSandboxes(openDriver(driver), {
    folder,
    records: storage.records,
    leaseSeconds: Number(lease),
    idlePlan: { idleMs: Number(idle) },
    onSuspended: () => process.stdout.write('asleep\n'),
    workspaceOf: async () => ({ hostPath: join(folder, 'workspace') }),
  });
  flushCompileCache(); // not at its end, which is a kill
  process.stdout.write('acquiring\n');
  const runtime = await runtimes.acquire('conversation', { signal: never });
  process.stdout.write(`incarnation ${runtime.incarnation}\n`);
  const browse = ACTIONS.browse.create({ url: command });
  const known = { id: Number(id), timestamp: APPENDED_AT };
  const action = runAction(runtime, command, { ...known, ...(command.startsWith('http:') && (browse as object)) });
  const result = await runtime.execute(action, { signal: never, onOutput: ({ text }) => process.stdout.write(`output ${text}\n`) });
  process.stdout.write(`result ${JSON.stringify(result)}\n`);
  await new Promise(() => setInterval(() => {}, 1_000_000));
}
