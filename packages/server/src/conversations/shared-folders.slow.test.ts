import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

it('CK820: conversations that work in one folder are notified of each other, once; others are not', async () => {
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

it(
  'EN966: with `git_worktree` each works in a copy of the folder with its history, which goes with it; what cannot be copied is no conversation',
  { timeout: 120_000 },
  async () => {
    const base = temporaryFolder();
    const shop = join(base, 'shop');
    mkdirSync(shop);
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', shop, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args]);
    git('init', '-q');
    writeFileSync(join(shop, 'stock.txt'), 'apples\n');
    git('add', '.');
    git('commit', '-qm', 'apples');
    writeFileSync(join(shop, 'stock.txt'), 'apples\npears\n');
    const command = 'cat stock.txt && git log --format=%s && echo plums > stock.txt && pwd';
    const steps = [{ toolCalls: [{ name: 'execute_bash', arguments: { command } }] }, { text: 'Done.' }];
    const server = await testServer({ env: { WORKSPACE_BASE: base, ALLOW_SET_CONVERSATION_ID: '1' }, script: steps });
    const [first, second] = [
      await server.create({ directory: 'shop', git_worktree: true }),
      await server.create({ directory: 'shop', git_worktree: true }),
    ];
    const copyOf = (id: string): string => join(server.home, 'workspaces', id);
    const { frames, send } = await socketIoClient(server, { conversation_id: first });
    send({ action: 'message', args: { content: 'go' } });
    const { content } = await frames.until(({ observation }) => observation === 'run', 'the command');
    expect(content).toBe(`apples\npears\napples\n${copyOf(first)}`);
    expect(readFileSync(join(copyOf(first), 'stock.txt'), 'utf8')).toBe('plums\n');
    for (const folder of [shop, copyOf(second)]) expect(readFileSync(join(folder, 'stock.txt'), 'utf8')).toBe('apples\npears\n');
    await fetch(`${server.url}/api/conversations/${first}`, { method: 'DELETE' });
    expect([first, second].map((id) => existsSync(copyOf(id)))).toEqual([false, true]);

    const conversation_id = 'a'.repeat(32);
    mkdirSync(join(copyOf(conversation_id), 'in the way'), { recursive: true });
    const refused = await server.post('/api/conversations', { directory: 'shop', git_worktree: true, conversation_id });
    expect(refused.status).toBe(503);
    expect(await (await server.get(`/api/conversations/${conversation_id}`)).json()).toBeNull();
    expect(existsSync(copyOf(conversation_id))).toBe(false);
  },
);
