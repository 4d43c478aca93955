import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder, testServer } from '../server.test-support.ts';
import { addTrigger, bySecret, deliveriesOf, endOf, sendTo } from './triggers.test-support.ts';

/** As many conversations of triggers as work at the same time. */
const PLACES = 8;

it('TG902: conversations that somebody has paused keep no other delivery waiting', { timeout: 240_000 }, async () => {
  const home = temporaryFolder();
  const script = join(home, 'tasks.json');
  const tasks = [
    { task: 'Be slow.', answers: [{ text: 'At last.', delayMs: 900_000 }] },
    { task: 'Be quick.', answers: [{ text: 'Done.' }] },
  ];
  writeFileSync(script, JSON.stringify({ tasks }));
  const server = await testServer({ home, env: { LLM_MODEL: `scripted/${script}` } });
  const trigger = await addTrigger(server, { kind: 'webhook', prompt: 'Do what it says: {{text}}' });
  const send = (text: string) => sendTo(server, trigger, text, bySecret(trigger));
  for (let sent = 0; sent < PLACES; sent++) expect((await send('Be slow.')).status).toBe(202);
  const atWork = async () => (await deliveriesOf(server, trigger)).filter(({ state }) => state === 'working');
  await expect.poll(async () => (await atWork()).length, { timeout: 60_000 }).toBe(PLACES);
  for (const { conversation_id: id } of await atWork()) {
    const pause = () => server.post(`/api/conversations/${id}/events`, { action: 'change_agent_state', args: { agent_state: 'paused' } });
    await expect.poll(async () => (await pause()).status, { timeout: 60_000 }).toBe(200);
  }
  expect((await send('Be quick.')).status).toBe(202);
  expect(await endOf(server, trigger)).toMatchObject({ state: 'done' });
  expect(await atWork()).toHaveLength(PLACES);
});
