import { describe, expect, it } from 'vitest';
import { socketIoClient, testServer, type SocketIoClient, type TestServer } from '../server.test-support.ts';

const LONG = 'seq 1 400000; head -c 300000 /dev/zero; echo äöü';
const LONG_OUTPUT = `${Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`).join('')}${'\0'.repeat(300_000)}äöü\n`;

interface Place {
  readonly server: TestServer;
  readonly client: SocketIoClient;
  readonly url: string;
}

async function place(): Promise<Place> {
  const server = await testServer();
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id });
  await client.frames.untilState('awaiting_user_input');
  return { server, client, url: `/api/conversations/${id}/events` };
}

/** The id of the observation, when it has come. */
async function run({ client }: Place, command: string): Promise<{ readonly id: number; readonly cause: number }> {
  const before = client.frames.all.length;
  client.send({ action: 'run', args: { command, blocking: true } });
  const { id, cause } = await client.frames.until((frame) => client.frames.all.indexOf(frame) >= before && frame.observation === 'run');
  return { id: Number(id), cause: Number(cause) };
}

describe('the output of an action', () => {
  it('SV41, SV43: is downloaded whole, by the id of the action and of its answer', async () => {
    const there = await place();
    const { id, cause } = await run(there, LONG);
    for (const event of [id, cause]) {
      const response = await there.server.get(`${there.url}/${event}/output`);
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename="output-${event}.txt"`);
      expect((await response.text()) === LONG_OUTPUT).toBe(true);
    }
    const short = await run(there, 'echo short');
    expect(await (await there.server.get(`${there.url}/${short.id}/output`)).text()).toBe('short');
  });

  it('SV42: where there is none says so', async () => {
    const there = await place();
    const answer = async (event: number | string) => {
      const response = await there.server.get(`${there.url}/${event}/output`);
      return [response.status, ((await response.json()) as { message: string }).message];
    };
    expect(await answer(9999)).toEqual([404, 'There is no event 9999 in this conversation.']);
    expect(await answer(0)).toEqual([404, expect.stringContaining('neither a command or a cell')]);
    const { id } = await run(there, `${LONG}; rm -r ~/.cache/tendon/output`);
    // The file stays open for a while, and with it the output.
    expect((await there.server.get(`${there.url}/${id}/output`)).status).toBe(200);
    for (let more = 0; more < 33; more += 1) await run(there, 'true');
    expect(await answer(id)).toEqual([404, expect.stringContaining('does not keep this output any more')]);
    expect((await there.server.get('/api/conversations/nobody/events/0/output')).status).toBe(404);
  });

  it('SV43: secrets are hidden in it on its way', async () => {
    const there = await place();
    const { id } = await run(there, `${LONG}; printf 'hunter2-%s\\n' hunter3`);
    await there.server.post('/api/secrets', { name: 'PASSWORD', value: 'hunter2-hunter3' });
    const text = await (await there.server.get(`${there.url}/${id}/output`)).text();
    expect(text.endsWith('äöü\n<secret_hidden>\n')).toBe(true);
    expect(text.length).toBe(LONG_OUTPUT.length + '<secret_hidden>\n'.length);
  });
});
