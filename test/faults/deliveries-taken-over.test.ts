/** What is delivered to a trigger at any server is carried out once, whichever of them is killed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CreatedTrigger, Delivered, DeliveryInfo } from '@tendon/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TendonProcess } from '@tendon/testing/servers';
import { nearestServer, triggerName } from '../../packages/server/src/platform/nearest-server.ts';
import { Cluster } from '../cluster/cluster.ts';

const NEVER = { answers: Array.from({ length: 20 }, () => ({ text: 'Too late.', delayMs: 900_000 })) };
const AT_ONCE = { answers: Array.from({ length: 20 }, () => ({ text: 'Looked after.' })) };

let cluster: Cluster;
let one: TendonProcess;
let two: TendonProcess;
let gateway: TendonProcess;
beforeEach(async () => {
  cluster = await Cluster.start();
  [one, two, gateway] = [await cluster.add({}, NEVER), await cluster.add({}, NEVER), await cluster.gateway({}, NEVER)];
});
afterEach(() => cluster.remove());

const HOOK = { name: 'builds', kind: 'webhook', prompt: 'A build failed: {{text}}' };
const deliveriesAt = async (server: TendonProcess, id: string): Promise<readonly DeliveryInfo[]> =>
  (await server.json<{ deliveries: DeliveryInfo[] }>(`/api/triggers/${id}/deliveries`)).deliveries;

async function deliver(server: TendonProcess, { path, secret }: CreatedTrigger, build: number): Promise<Delivered> {
  const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': `build-${build}`, 'content-type': 'application/json' };
  const send = () => fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify({ build }) });
  // Known there within a second.
  await expect.poll(async () => (await send()).status).toBeLessThan(300);
  return (await (await send()).json()) as Delivered;
}

/** Where what is delivered to the trigger is counted. */
async function serverOf({ id }: CreatedTrigger): Promise<readonly [its: TendonProcess, other: TendonProcess]> {
  const rows = (await cluster.sql(`SELECT id || ' ' || url FROM tendon.servers WHERE takes`)).split('\n').map((row) => row.split(' '));
  const nodes = rows.map(([server = '', url = '']) => ({ id: server, url, takesConversations: true, load: 0 }));
  return nearestServer(triggerName(id), nodes)?.url === one.url ? [one, two] : [two, one];
}

it('SV1264: a webhook may come to any server, a gateway too, and counts once', async () => {
  const trigger = await two.json<CreatedTrigger>('/api/triggers', HOOK);
  const answers: Delivered[] = [];
  for (const server of [gateway, one, two]) answers.push(await deliver(server, trigger, 7));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  await deliver(gateway, trigger, 8);
  for (const server of [gateway, one, two])
    await expect.poll(async () => (await deliveriesAt(server, trigger.id)).map(({ state }) => state)).toEqual(['working', 'working']);
  expect(await gateway.conversations()).toHaveLength(2);
  expect(Object.keys(await cluster.owned())).not.toContain(gateway.url);
});

it('SV1265: what a killed server worked on, or had accepted, another one brings to its end', async () => {
  const trigger = await one.json<CreatedTrigger>('/api/triggers', HOOK);
  const [its, other] = await serverOf(trigger);
  // As many as work at the same time, and two that wait.
  for (let build = 0; build < 10; build += 1) await deliver(other, trigger, build);
  await expect
    .poll(async () => (await deliveriesAt(other, trigger.id)).filter(({ state }) => state === 'working').length)
    .toBeGreaterThan(7);
  writeFileSync(join(other.home, 'script.json'), JSON.stringify(AT_ONCE));
  await other.kill('SIGKILL');
  await other.start();
  await its.kill('SIGKILL');
  await expect
    .poll(async () => (await deliveriesAt(other, trigger.id)).map(({ state }) => state), { timeout: 90_000 })
    .toEqual(Array.from({ length: 10 }, () => 'done'));
  const done = await deliveriesAt(other, trigger.id);
  expect(new Set(done.map(({ conversation_id: id }) => id)).size).toBe(10);
  expect(await other.conversations()).toHaveLength(10);
  expect(await cluster.owned()).toEqual({ [other.url]: 10 });
  for (const { conversation_id: id } of done) {
    const asked = (await other.trajectory(id!)).filter(({ source, action }) => source === 'user' && action === 'message');
    expect(asked).toHaveLength(1);
  }
});
