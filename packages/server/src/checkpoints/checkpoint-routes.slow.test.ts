import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConversationCheckpoints } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { socketIoClient, temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const SCRIPT = [bash('echo one > a.txt'), bash('echo two > a.txt; echo b > b.txt'), { text: 'done' }];

interface Started {
  readonly server: TestServer;
  readonly base: string;
  readonly path: string;
  /** Sends a message and waits until the agent rests. */
  say(content: string): Promise<void>;
  list(): Promise<ConversationCheckpoints>;
}

async function start(env: Readonly<Record<string, string>> = {}): Promise<Started> {
  const base = temporaryFolder();
  const server = await testServer({ env: { WORKSPACE_BASE: base, ...env }, script: SCRIPT });
  const id = await server.create();
  const path = `/api/conversations/${id}/checkpoints`;
  const client = await socketIoClient(server, { conversation_id: id });
  let rests = 0;
  return {
    ...{ server, base, path },
    async say(content) {
      client.send({ action: 'message', args: { content } });
      rests += 1;
      await client.frames.until(
        () => client.frames.all.filter(({ extras }) => extras?.agent_state === 'awaiting_user_input').length > rests,
      );
    },
    list: async () => (await server.get(path)).json() as Promise<ConversationCheckpoints>,
  };
}

it('CK723, CK720, CK811: a step is undone with its conversation, which goes on from before the answer', async () => {
  const { server, base, path, say, list } = await start();
  await say('go');
  expect(readFileSync(join(base, 'a.txt'), 'utf8')).toBe('two\n');
  const { checkpoints, off, left_out } = await list();
  expect({ numbers: checkpoints.map(({ number }) => number), off, left_out }).toEqual({ numbers: [2, 1], off: null, left_out: [] });
  expect(checkpoints[0]!.event_id).toBeGreaterThan(checkpoints[1]!.event_id!);

  expect(await (await server.get(`${path}/2/changes`)).json()).toEqual({
    checkpoint: 2,
    count: 2,
    changes: [
      { path: 'a.txt', change: 'changed' },
      { path: 'b.txt', change: 'removed' },
    ],
  });
  const files = await server.post(`${path}/2/restore`, { what: 'files' });
  expect([files.status, await files.json()]).toMatchObject([200, { status: 'restored', changed: 2, left: [] }]);
  expect([readFileSync(join(base, 'a.txt'), 'utf8'), existsSync(join(base, 'b.txt'))]).toEqual(['one\n', false]);

  const both = await server.post(`${path}/1/restore`, {});
  expect([both.status, await both.json()]).toMatchObject([200, { status: 'restored' }]);
  expect(existsSync(join(base, 'a.txt'))).toBe(false);
  // The model is shown no answer of its own any more: the script begins again.
  await say('again');
  expect(readFileSync(join(base, 'a.txt'), 'utf8')).toBe('two\n');
  const events = (await (await server.get(path.replace('checkpoints', 'events/search?limit=100'))).json()) as {
    events: { action?: string }[];
  };
  expect(events.events.filter(({ action }) => action === 'restore_checkpoint')).toHaveLength(2);
});

itInFull('CK713: what cannot be restored is refused', async () => {
  const { server, path, say } = await start();
  await say('go');
  const refused = async (at: string, body?: unknown) => {
    const answer = await server.post(at, body);
    return [answer.status, ((await answer.json()) as { message?: string }).message];
  };
  expect(await refused(`${path}/99/restore`)).toEqual([400, 'The arguments do not fit: there is no checkpoint 99.']);
  expect((await server.get(`${path}/99/changes`)).status).toBe(400);
  expect((await server.post(`${path}/1/restore`, { what: 'everything' })).status).toBe(422);
  expect(await refused(`/api/conversations/${'0'.repeat(32)}/checkpoints/1/restore`)).toEqual([404, expect.any(String)]);
});

it('CK703: switched off, the list says so', async () => {
  const { say, list } = await start({ SANDBOX_CHECKPOINTS: 'off' });
  await say('go');
  expect(await list()).toMatchObject({ checkpoints: [], off: expect.stringContaining('SANDBOX_CHECKPOINTS') as string });
});
