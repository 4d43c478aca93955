import { request } from 'node:http';
import { expect, it } from 'vitest';
import { testServer, type TestServer } from '../server.test-support.ts';

interface Found {
  readonly events: readonly { readonly id: number; readonly action?: string; readonly observation?: string; readonly source: string }[];
  readonly has_more: boolean;
}

async function conversation(): Promise<{ server: TestServer; url: string }> {
  const script = [
    { text: 'I look.', toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo needle' } }] },
    { text: 'Found the NEEDLE.' },
  ];
  const server = await testServer({ script });
  const url = `/api/conversations/${await server.create({ initial_user_msg: 'find it' })}`;
  const state = async () => ((await (await server.get(url)).json()) as { agent_state: string }).agent_state;
  await expect.poll(state, { timeout: 50_000 }).toBe('awaiting_user_input');
  return { server, url };
}

/** `fetch` sends no body with a GET; clients of 0.62 do. */
function getWithBody(address: string, body: string): Promise<{ status: number; json: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(address, { method: 'GET', headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode!, json: JSON.parse(text) }));
    });
    sent.on('error', reject).end(body);
  });
}

it('SV32: events are found by every filter, in the query and in the body', async () => {
  const { server, url } = await conversation();
  const find = async (query: string) => (await (await server.get(`${url}/events?limit=100&${query}`)).json()) as Found;
  const all = (await find('')).events;
  expect((await find('query=Needle')).events.length).toBeGreaterThanOrEqual(3);
  expect((await find('query=nowhere')).events).toEqual([]);
  expect((await find('source=user')).events.every(({ source }) => source === 'user')).toBe(true);
  expect((await find('include_types=run')).events.map(({ action, observation }) => action ?? observation)).toEqual(['run', 'run']);
  expect((await find('include_types=CmdRunAction')).events.map(({ action }) => action)).toEqual(['run']);
  expect((await find('exclude_types=run,message')).events.some(({ action }) => action === 'message')).toBe(false);
  expect((await find('end_date=2000-01-01')).events).toEqual([]);
  expect((await find('start_date=2000-01-01T00:00:00Z')).events).toEqual(all);
  const lasts = await find('include_types=run&reverse=true');
  expect(lasts.events.map(({ observation }) => observation ?? null)).toEqual(['run', null]);
  expect(await (await server.get(`${url}/events?limit=1&include_types=run`)).json()).toMatchObject({
    events: [{ action: 'run' }],
    has_more: true,
  });
  expect(await (await server.get(`${url}/events/search?event_type=run&limit=100`)).json()).toMatchObject({
    events: [{}, {}],
    has_more: false,
  });

  const address = `${server.url}${url}/events?limit=100`;
  expect(await getWithBody(address, '{"include_types":["run"],"source":"agent"}')).toMatchObject({
    status: 200,
    json: { has_more: false },
  });
  expect(((await getWithBody(address, '{"source":"user"}')).json as Found).events.every(({ source }) => source === 'user')).toBe(true);
  expect((await getWithBody(address, '{"__proto__":{"source":"x"}}')).status).toBe(200);
  expect((await getWithBody(address, '{"source":1}')).status).toBe(422);
  expect((await getWithBody(address, '{')).status).toBe(400);
  expect((await getWithBody(address, `"${'x'.repeat(70_000)}"`)).status).toBe(400);
  expect((await server.get(`${url}/events?start_date=never`)).status).toBe(422);
});

it('SV33: a trajectory is exported as one document or as lines', async () => {
  const { server, url } = await conversation();
  const { trajectory } = (await (await server.get(`${url}/trajectory`)).json()) as { trajectory: unknown[] };
  const lines = await server.get(`${url}/trajectory?format=jsonl`);
  expect(lines.headers.get('content-type')).toContain('application/x-ndjson');
  const read = (await lines.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(read).toEqual(trajectory);
  expect((await server.get(`${url}/trajectory?format=xml`)).status).toBe(422);
});

it('SV33: an answer that says nothing is in it, so that what comes back from it has every answer', async () => {
  const server = await testServer({ script: [{ text: 'One.' }, { text: 'Two.' }] });
  const url = `/api/conversations/${await server.create({ initial_user_msg: 'begin' })}`;
  const recorded = async () =>
    ((await (await server.get(`${url}/trajectory`)).json()) as { trajectory: (Found['events'][number] & { cause?: number })[] }).trajectory;
  const says = (text: string) => async () => (await recorded()).some((event) => JSON.stringify(event).includes(text));
  await expect.poll(says('One.'), { timeout: 50_000 }).toBe(true);
  await server.post(`${url}/message`, { message: 'go on' });
  await expect.poll(says('Two.'), { timeout: 50_000 }).toBe(true);
  const trajectory = await recorded();
  expect(trajectory.map(({ id }) => id)).toEqual(trajectory.map((_, index) => index));
  const recalls = trajectory.filter(({ action }) => action === 'recall').map(({ id }) => id);
  expect(trajectory.filter(({ cause }) => recalls.includes(cause!)).map(({ observation }) => observation)).toEqual(['recall', 'null']);
});

it('SV11: conversations are found by words, repository and trigger', async () => {
  const server = await testServer();
  const a = await server.create({ repository: 'o/one', initial_user_msg: 'Fix the parser' });
  await server.create({ repository: 'o/two' });
  const m = await server.create({ create_microagent: { repo: 'o/two', title: 'tests' } });
  const ids = async (query: string) =>
    ((await (await server.get(`/api/${query}`)).json()) as { results: { conversation_id: string }[] }).results.map(
      (found) => found.conversation_id,
    );
  await expect.poll(() => ids('conversations?query=PARSER')).toEqual([a]);
  expect(await ids('conversations?selected_repository=o/one')).toEqual([a]);
  expect(await ids('conversations?conversation_trigger=microagent_management')).toEqual([m]);
  expect(await ids('microagent-management/conversations?selected_repository=')).toEqual([m]);
  expect((await ids('conversations?page_id=not-ours')).length).toBe(3);
});
