/**
 * The SDK against a real server of OpenHands 0.62, which the scripts of `../shared/peers` install once (3 minutes, 2 GB) and start: a
 * conversation is made, followed, interrupted by a broken connection, listed and removed. Run with `npm run test:shared`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ApiError, createClient, type Client } from '@tendon/client';
import { isAction, isObservation, type Event } from '@tendon/protocol';
import { freePort } from '@tendon/testing';
import { beforeAll, expect, it, onTestFinished } from 'vitest';

const peers = fileURLToPath(new URL('../../../shared/peers/', import.meta.url));
const STEPS = 4;
const RESTING: ReadonlySet<string> = new Set(['awaiting_user_input', 'finished']);

async function startModel(): Promise<string> {
  const model = spawn(process.execPath, [`${peers}mock-llm.mjs`, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void model.kill());
  const [line] = (await once(model.stdout, 'data')) as [Buffer];
  return `http://127.0.0.1:${/listening (\d+)/.exec(line.toString())![1]}`;
}

async function startServer(): Promise<string> {
  const port = await freePort();
  const server = spawn(`${peers}openhands-start.sh`, ['v0', '--port', String(port)], { stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/alive`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isUp, { timeout: 300_000, interval: 500 }).toBe(true);
  return url;
}

beforeAll(() => {
  const setup = spawnSync(`${peers}openhands-setup.sh`, ['v0'], { stdio: 'inherit' });
  if (setup.status !== 0) throw new Error('OpenHands 0.62 could not be installed; its last lines above name the cause');
}, 900_000);

const isRest = (event: Event): boolean =>
  isObservation(event) && event.observation === 'agent_state_changed' && RESTING.has(event.extras.agent_state);

const WORK: ReadonlySet<string> = new Set(['run', 'message', 'finish']);
const isWork = (event: Event): boolean => WORK.has(isAction(event) ? event.action : isObservation(event) ? event.observation : '');

/** From `after` to the first event that is the last one asked for. */
async function eventsUntil(client: Client, id: string, after: number, isLast: (event: Event) => boolean): Promise<readonly Event[]> {
  const seen: Event[] = [];
  const conversation = client.open(id, { latestEventId: after });
  try {
    for await (const event of conversation.events({ signal: AbortSignal.timeout(120_000) })) {
      seen.push(event);
      if (isLast(event)) return seen;
    }
    throw new Error('the events ended before');
  } finally {
    conversation.close();
  }
}

it('CK968: makes, follows, resumes, lists and removes a conversation of a server of OpenHands 0.62', { timeout: 900_000 }, async () => {
  const model = await startModel();
  const client = createClient({ baseUrl: await startServer() });
  await fetch(`${model}/_config`, { method: 'POST', body: JSON.stringify({ steps: STEPS, command: 'echo step {i}' }) });
  await client.settings.patch({ agent: 'CodeActAgent', llm_model: 'openai/gpt-4o', llm_api_key: 'key', llm_base_url: `${model}/v1` });

  const { conversation_id: id } = await client.conversations.create({});
  const opening = await eventsUntil(client, id, -1, isRest);
  const conversation = client.open(id, { latestEventId: opening.at(-1)!.id });
  conversation.say('BENCHTASK');
  const live = await eventsUntil(client, id, opening.at(-1)!.id, isRest);
  const runs = [...live].filter((event) => isObservation(event) && event.observation === 'run');
  expect(runs.map((event) => (isObservation(event) ? event.content : '').trim())).toEqual(
    Array.from({ length: STEPS }, (_, step) => expect.stringContaining(`step ${step}`) as string),
  );
  expect(live.filter((event) => isAction(event) && event.action === 'message' && event.source === 'user')).toHaveLength(1);
  conversation.close();

  const whole = await eventsUntil(client, id, -1, (event) => event.id === live.at(-1)!.id);
  // Its replay leaves out states and recalls.
  const ids = (events: readonly Event[]) => events.filter(isWork).map((event) => event.id);
  expect(ids(whole)).toEqual(ids(live));
  const { results } = await client.conversations.list();
  expect(results.map(({ conversation_id: one }) => one)).toContain(id);
  await client.conversations.delete(id);
  const gone = await client.conversations.get(id).catch((error: unknown) => error);
  expect(gone === null || (gone instanceof ApiError && gone.reason === 'not-found')).toBe(true);
});
