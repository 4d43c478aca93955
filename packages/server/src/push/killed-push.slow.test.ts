/** Servers that die between what is worth a push and the push. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isAction } from '@tendon/protocol';
import { builtFaults, TendonProcess } from '@tendon/testing/servers';
import { sharedPostgres } from '@tendon/testing/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';
import { addDevice, pushService, type PushService, type ReceivedPush } from './push-service.test-support.ts';

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

let databases = 0;

/** Two servers on one database, with a device; `begin` begins a conversation that asks for a decision. */
async function twoServers(service: PushService) {
  const cluster = await sharedPostgres();
  const name = `pushes_${process.pid}_${(databases += 1)}`;
  const database = await cluster.createDatabase(name);
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined));
  const add = async (): Promise<TendonProcess> => {
    const server = await TendonProcess.sharing(database, service.env, { answers: SCRIPT });
    onTestFinished(() => server.remove());
    return server;
  };
  const [one, other] = [await add(), await add()];
  await addDevice(other, service);
  const begin = async (server: TendonProcess): Promise<ReceivedPush> => {
    const { conversation_id: id } = await server.json<{ conversation_id: string }>('/api/conversations', ASKS);
    return service.received.until(({ message }) => message.conversation_id === id);
  };
  return { one, other, begin };
}

it('SV1407: of several servers one sends a push, and another one what its owner could not send before it was killed', async () => {
  const service = await pushService((_path, count) => (count === 1 ? { status: 503 } : undefined));
  const { one, other, begin } = await twoServers(service);
  const first = await begin(one);
  const missed = await begin(one);
  await one.kill('SIGKILL');
  await expect.poll(() => service.received.all.length, { timeout: 60_000 }).toBe(3);
  expect(service.received.all[2]!.message).toEqual(missed.message);
  // Its other conversations were taken over as well, and what was sent is not sent again.
  await other.json(`/api/conversations/${first.message.conversation_id}/start`, {});
  await begin(other);
  expect(service.received.all).toHaveLength(4);
});

it('SV1407: a server that was frozen while it waited to try again sends nothing that another one has sent by then', async () => {
  const service = await pushService((_path, count) => (count === 0 ? { status: 503 } : undefined));
  const { one, begin } = await twoServers(service);
  const { message } = await begin(one);
  process.kill(one.pid, 'SIGSTOP');
  await expect.poll(() => service.received.all.length, { timeout: 60_000 }).toBe(2);
  process.kill(one.pid, 'SIGCONT');
  await expect.poll(() => one.output, { timeout: 60_000 }).toContain('another server has taken over');
  await begin(one);
  expect(service.received.all.filter((push) => push.message.conversation_id === message.conversation_id)).toHaveLength(2);
});
