/** Servers that die between what is worth a push and the push. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isAction } from '@tendon/protocol';
import { builtFaults, TendonProcess } from '@tendon/testing/servers';
import { sharedPostgres } from '@tendon/testing/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';
import { addDevice, pushService, type PushService } from './push-service.test-support.ts';

const SCRIPT = [{ toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo 1' } }] }];
const ASKS = { initial_user_msg: 'Do it', confirmation_policy: 'always' };
const run = promisify(execFile);

/** The number of changes when it was not killed. */
async function serveKilledAt(home: string, service: PushService, point: number): Promise<number | undefined> {
  const env = { ...process.env, ...service.env, LLM_MODEL: `scripted/${home}/script.json` };
  return run(process.execPath, [builtFaults('killed-push'), home, String(point)], { env }).then(
    ({ stdout }) => Number(stdout),
    ({ signal, stderr }: { readonly signal: string | null; readonly stderr: string }) => {
      expect(signal, stderr).toBe('SIGKILL');
      return undefined;
    },
  );
}

async function hasTask({ engine }: TestServer, id: string): Promise<boolean> {
  const log = await engine.conversations.log(id);
  return (await log!.read()).some((event) => event.source === 'user' && isAction(event) && event.action === 'message');
}

it(
  'SV1406: a server that is killed at any change sends what is still true after its restart, under one tag',
  { timeout: 600_000 },
  async () => {
    const home = temporaryFolder();
    const service = await pushService();
    const first = await testServer({ home, script: SCRIPT, env: service.env });
    await addDevice(first, service);
    await first.close();
    let killed = 0;
    for (let changes: number | undefined; changes === undefined; killed++) {
      changes = await serveKilledAt(home, service, 5 * killed);
      const server = await testServer({ home, script: SCRIPT, env: service.env });
      const tagsOf = (id: string) =>
        service.received.all.filter(({ message }) => message.conversation_id === id).map(({ message }) => message.tag);
      for (const { id } of await server.engine.conversations.list({ limit: 100 })) {
        // Killed before it had a task.
        if (!(await hasTask(server, id))) continue;
        await expect.poll(() => tagsOf(id).length, { message: `killed at ${5 * killed}` }).toBeGreaterThan(0);
        await expect.poll(async () => (await server.engine.conversations.get(id))?.pushed).toBeDefined();
        expect([new Set(tagsOf(id)).size, tagsOf(id).length <= 2]).toEqual([1, true]);
      }
      await server.close();
    }
    expect(killed).toBeGreaterThan(4);
  },
);

it('SV1407: of several servers one sends a push, and another one what its owner could not send before it was killed', async () => {
  const service = await pushService((_path, count) => (count === 1 ? { status: 503 } : undefined));
  const cluster = await sharedPostgres();
  const database = await cluster.createDatabase(`pushes_${process.pid}`);
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE pushes_${process.pid} WITH (FORCE)`).then(() => undefined));
  const add = async (): Promise<TendonProcess> => {
    const server = await TendonProcess.sharing(database, service.env, { answers: SCRIPT });
    onTestFinished(() => server.remove());
    return server;
  };
  const [one, other] = [await add(), await add()];
  await addDevice(other, service);
  const begin = async (server: TendonProcess): Promise<string> =>
    (await server.json<{ conversation_id: string }>('/api/conversations', ASKS)).conversation_id;
  const first = await begin(one);
  await service.received.until(({ message }) => message.conversation_id === first);
  const second = await begin(one);
  const missed = await service.received.until(({ message }) => message.conversation_id === second);
  await one.kill('SIGKILL');
  await expect.poll(() => service.received.all.length, { timeout: 60_000 }).toBe(3);
  expect(service.received.all[2]!.message).toEqual(missed.message);
  // Its other conversations were taken over as well, and what was sent is not sent again.
  await other.json(`/api/conversations/${first}/start`, {});
  await begin(other);
  await expect.poll(() => service.received.all.length).toBe(4);
});
