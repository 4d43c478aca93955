import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ForkedConversation } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const SCRIPT = [bash('echo one > a.txt; chmod 755 a.txt'), bash('echo two > a.txt; echo b > b.txt'), { text: 'done' }];

interface WireEvent {
  readonly id: number;
  readonly action?: string;
  readonly observation?: string;
  readonly cause?: number;
  readonly content?: string;
  readonly timestamp: string;
  readonly args?: { readonly command?: string };
  readonly extras?: { readonly agent_state?: string };
}

async function eventsOf(server: TestServer, id: string): Promise<readonly WireEvent[]> {
  const { events } = (await (await server.get(`/api/conversations/${id}/events/search?limit=100`)).json()) as { events: WireEvent[] };
  return events;
}

async function say(server: TestServer, id: string, content: string): Promise<void> {
  await (await socketIoClient(server, { conversation_id: id })).ask(content);
}

async function fork(server: TestServer, id: string, event?: number): Promise<ForkedConversation> {
  const answer = await server.post(`/api/conversations/${id}/fork`, { event });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.json()) as ForkedConversation;
}

async function started(base = temporaryFolder()): Promise<{ readonly server: TestServer; readonly id: string; readonly base: string }> {
  const server = await testServer({ env: { WORKSPACE_BASE: base }, script: SCRIPT });
  const id = await server.create();
  return { server, id, base };
}

const ofFork = (server: TestServer, { conversation_id: id }: ForkedConversation, ...path: string[]): string =>
  join(realpathSync(server.home), 'workspaces', id, ...path);

it('SV1260: a fork has none of the keys that a client gave the other one', async () => {
  const { server, id } = await started();
  const { conversations } = server.engine;
  await conversations.configure(id, { llm: { apiKey: new Secret('key-of-initialize') } });
  await say(server, id, 'go');
  const { conversation_id: forked } = await fork(server, id);
  expect(await Promise.all([id, forked].map(async (one) => (await conversations.get(one))?.model_access))).toEqual([
    expect.stringMatching(/^v1\./),
    undefined,
  ]);
});

it('CK800, CK801: a fork has the events up to one, the workspace of then, and goes on by itself', async () => {
  const { server, id, base } = await started();
  await say(server, id, 'go');
  const events = await eventsOf(server, id);
  const [first, second] = events.filter(({ action }) => action === 'run');
  const answered = events.find(({ cause, observation }) => observation === 'run' && cause === first!.id)!;
  const forked = await fork(server, id, answered.id);
  expect(forked).toMatchObject({ event_id: answered.id, checkpoint: 2, left: [] });
  expect(readFileSync(ofFork(server, forked, 'a.txt'), 'utf8')).toBe('one\n');
  expect([lstatSync(ofFork(server, forked, 'a.txt')).mode & 0o777, existsSync(ofFork(server, forked, 'b.txt'))]).toEqual([0o755, false]);
  const own = await eventsOf(server, forked.conversation_id);
  expect(own.slice(0, answered.id + 1)).toEqual(events.slice(0, answered.id + 1));
  expect(own.slice(answered.id + 1).map(({ extras }) => extras?.agent_state)).toEqual(['loading', 'awaiting_user_input']);
  // The model is shown one answer of its own: the script goes on with the second.
  await say(server, forked.conversation_id, 'go on');
  expect(readFileSync(ofFork(server, forked, 'b.txt'), 'utf8')).toBe('b\n');
  expect((await eventsOf(server, forked.conversation_id)).filter(({ action }) => action === 'run')).toHaveLength(2);
  expect(await eventsOf(server, id)).toEqual(events);
  writeFileSync(ofFork(server, forked, 'a.txt'), 'of the fork');
  expect([second!.args!.command, readFileSync(join(base, 'a.txt'), 'utf8')]).toEqual(['echo two > a.txt; echo b > b.txt', 'two\n']);
  expect(await (await server.get(`/api/conversations/${forked.conversation_id}`)).json()).toMatchObject({ title: 'Fork of go' });
});

it('CK802: an action that is unanswered at that event is answered, and the workspace is that before it', async () => {
  const { server, id } = await started();
  await say(server, id, 'go');
  const second = (await eventsOf(server, id)).findLast(({ action }) => action === 'run')!;
  const forked = await fork(server, id, second.id);
  const own = await eventsOf(server, forked.conversation_id);
  expect(own.slice(second.id + 1)).toMatchObject([
    { observation: 'error', cause: second.id, content: expect.stringContaining('not carried out') as string },
    { extras: { agent_state: 'loading' } },
    { extras: { agent_state: 'awaiting_user_input' } },
  ]);
  expect(existsSync(ofFork(server, forked, 'b.txt'))).toBe(false);
  await say(server, forked.conversation_id, 'and now');
  expect((await eventsOf(server, forked.conversation_id)).at(-1)!.extras?.agent_state).toBe('awaiting_user_input');
});

it('CK803: a fork has the git histories of its folders, and nothing that a link leads to', async () => {
  const { server, id, base } = await started();
  const git = (at: string, ...args: string[]): string =>
    execFileSync('git', ['-C', at, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' });
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret'), 'of the host');
  writeFileSync(join(base, 'tracked'), 'one\n');
  writeFileSync(join(base, '.env'), 'TOKEN=1');
  git(base, 'init', '-q');
  git(base, 'add', 'tracked');
  git(base, 'commit', '-qm', 'first');
  git(base, 'worktree', 'add', '-q', join(outside, 'tree'));
  symlinkSync(outside, join(base, '.git/objects/leads-out'));
  symlinkSync(outside, join(base, 'leads-out'));
  writeFileSync(join(base, '.git/index.lock'), '');
  await say(server, id, 'go');
  const forked = await fork(server, id);
  expect(forked.checkpoint).toBe(null);
  const at = ofFork(server, forked);
  expect(git(at, 'log', '--format=%s').trim()).toBe('first');
  expect(git(at, 'status', '--porcelain').split('\n').toSorted().join('')).toBe('?? a.txt?? b.txt?? leads-out');
  expect([lstatSync(join(at, 'leads-out')).isSymbolicLink(), lstatSync(join(at, '.git/objects/leads-out')).isSymbolicLink()]).toEqual([
    true,
    true,
  ]);
  expect(readdirSync(join(at, '.git')).filter((name) => /lock|worktrees/.test(name))).toEqual([]);
  expect(existsSync(join(at, '.env'))).toBe(false);
  git(at, 'commit', '-qm', 'of the fork', '--allow-empty');
  expect(git(base, 'log', '--format=%s').trim()).toBe('first');
  expect(await (await fetch(`${server.url}/api/conversations/${forked.conversation_id}`, { method: 'DELETE' })).json()).toBe(true);
  expect(existsSync(at)).toBe(false);
});

it('CK804: what cannot be forked is refused, and leaves nothing', async () => {
  const { server, id } = await started();
  await say(server, id, 'go');
  const refused = async (path: string, body: unknown): Promise<unknown> => {
    const answer = await server.post(`/api/conversations/${path}/fork`, body);
    return [answer.status, ((await answer.json()) as { message?: string }).message];
  };
  expect(await refused(id, { event: 9999 })).toEqual([400, 'The arguments do not fit: there is no event 9999.']);
  expect(await refused('0'.repeat(32), {})).toEqual([404, expect.any(String)]);
  expect((await server.post(`/api/conversations/${id}/fork`, { event: -1 })).status).toBe(422);
  expect(existsSync(join(server.home, 'workspaces'))).toBe(false);
});
