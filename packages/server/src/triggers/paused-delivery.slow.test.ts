import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CreatedTrigger, DeliveryInfo } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { temporaryFolder, testServer } from '../server.test-support.ts';
import { addTrigger, bySecret, deliveriesOf, endOf, sendTo } from './triggers.test-support.ts';

/** As many conversations of triggers as work at the same time. */
const PLACES = 8;

/** A server that takes slow tasks and quick ones, with what its triggers do. */
async function slowAndQuick() {
  const home = temporaryFolder();
  const script = join(home, 'tasks.json');
  const tasks = [
    { task: 'Be slow.', answers: [{ text: 'At last.', delayMs: 900_000 }] },
    { task: 'Be quick.', answers: [{ text: 'Done.' }] },
  ];
  writeFileSync(script, JSON.stringify({ tasks }));
  const server = await testServer({ home, env: { LLM_MODEL: `scripted/${script}` } });
  const atWork = async (trigger: Pick<CreatedTrigger, 'id'>) =>
    (await deliveriesOf(server, trigger)).filter(({ state }) => state === 'working');
  const pause = (one: DeliveryInfo) =>
    expect
      .poll(
        async () => {
          const path = `/api/conversations/${one.conversation_id}/events`;
          return (await server.post(path, { action: 'change_agent_state', args: { agent_state: 'paused' } })).status;
        },
        { timeout: 60_000 },
      )
      .toBe(200);
  return { server, atWork, pause };
}

it('TG902: conversations that somebody has paused keep no other delivery waiting', { timeout: 240_000 }, async () => {
  const { server, atWork, pause } = await slowAndQuick();
  const trigger = await addTrigger(server, { kind: 'webhook', prompt: 'Do what it says: {{text}}' });
  const send = (text: string) => sendTo(server, trigger, text, bySecret(trigger));
  for (let sent = 0; sent < PLACES; sent++) expect((await send('Be slow.')).status).toBe(202);
  await expect.poll(async () => (await atWork(trigger)).length, { timeout: 60_000 }).toBe(PLACES);
  for (const one of await atWork(trigger)) await pause(one);
  expect((await send('Be quick.')).status).toBe(202);
  expect(await endOf(server, trigger)).toMatchObject({ state: 'done' });
  expect(await atWork(trigger)).toHaveLength(PLACES);
});

it(
  'TG911: an organisation with many deliveries that wait lets one of another organisation go before its second',
  { timeout: 240_000 },
  async () => {
    const { server, atWork, pause } = await slowAndQuick();
    const { triggers } = server.engine;
    const add = async (organisation: string) => {
      const cause = { kind: 'webhook' as const, schedule: null, mention: null, max_per_hour: 100 };
      const nowhere = { repository: null, branch: null, git_provider: null, agent: null, posts_result: false, post_to: null };
      return (await triggers.store.create(
        { name: organisation, organisation_id: organisation, prompt: '{{text}}', ...cause, ...nowhere },
        'a-secret-of-a-trigger',
      ))!;
    };
    const [busy, calm] = [await add('busy'), await add('calm')];
    for (let sent = 0; sent < PLACES; sent++) await triggers.fire(busy, 'Be slow.');
    await expect.poll(async () => (await atWork(busy)).length, { timeout: 60_000 }).toBe(PLACES);
    const [first, second] = await atWork(busy);
    await triggers.fire(busy, 'Be slow.');
    await triggers.fire(busy, 'Be slow.');
    await triggers.fire(calm, 'Be quick.');
    await pause(first!);
    await pause(second!);
    expect(await endOf(server, calm)).toMatchObject({ state: 'done' });
  },
);
