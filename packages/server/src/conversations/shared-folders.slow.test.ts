import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer, type SocketIoClient, type TestServer } from '../server.test-support.ts';

/** A step that goes on until it is stopped. */
const WAITS = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'sleep 600', timeout: '600' } }] };

async function client(server: TestServer, directory: string): Promise<SocketIoClient & { readonly id: string }> {
  const id = await server.create({ directory });
  return { id, ...(await socketIoClient(server, { conversation_id: id })) };
}

const noticesIn = ({ frames }: SocketIoClient): readonly string[] =>
  frames.all.filter(({ observation }) => observation === 'success').map(({ content }) => String(content));

it('CK820: conversations that work in one folder are notified of each other, once; others are not', { timeout: 120_000 }, async () => {
  const base = temporaryFolder();
  for (const name of ['a', 'a/below', 'b']) mkdirSync(join(base, name));
  const server = await testServer({ env: { WORKSPACE_BASE: base }, script: [WAITS] });
  const [first, second, apart] = [await client(server, 'a'), await client(server, 'a/below'), await client(server, 'b')];
  for (const each of [apart, first, second]) {
    each.send({ action: 'message', args: { content: 'go' } });
    await each.frames.until(({ action }) => action === 'run', 'the step');
  }
  await first.frames.until(({ observation }) => observation === 'success', 'the notice');
  second.send({ action: 'message', args: { content: 'and faster' } });
  await second.frames.until(({ message }) => message === 'and faster', 'the second message');
  expect([noticesIn(first), noticesIn(second)]).toEqual([
    [expect.stringContaining(`(${second.id})`) as string],
    [expect.stringContaining(`(${first.id})`) as string],
  ]);
  expect(noticesIn(apart)).toEqual([]);
  for (const each of [first, second, apart]) await server.post(`/api/conversations/${each.id}/stop`);
});
