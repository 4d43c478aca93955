import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError, type Delegation, type LlmProvider, type Storage } from '@tendon/core';
import { createMemoryStorage } from '@tendon/core/storage';
import { createScriptedProvider } from '@tendon/core/llm';
import { ChangeAgentStateAction, MessageAction, type ConfirmationRule, type Settings } from '@tendon/protocol';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../platform/system-clock.ts';
import { rulesOf } from '../confirmation/confirmation-of.ts';
import type { StoredConversation } from '../conversation-records.ts';
import { conversationsWith, made } from '../conversations.test-support.ts';
import { delegation } from './delegation.ts';

/** A deadline, not a measurement: machines are busy. */
const WAIT = { timeout: 50_000 };

it('EN400: what could not be stored for a delegation is asked again, and is made once', async () => {
  const memory = createMemoryStorage({ clock: systemClock });
  let hasSpace = true;
  const storage: Storage = {
    ...memory,
    events: {
      delete: (id) => memory.events.delete(id),
      async open(id) {
        const log = await memory.events.open(id);
        const append = log.append.bind(log);
        return Object.assign(log, {
          append: (...given: Parameters<typeof append>) =>
            hasSpace ? append(...given) : Promise.reject(new StorageError('undone', 'the database or disk is full')),
        });
      },
    },
  };
  const llm = createScriptedProvider([{ text: 'the part is done' }]);
  const { conversations } = conversationsWith(60_000, { storage, llm });
  onTestFinished(() => conversations.close());
  const parent = (await conversations.get(await made(conversations)))!;
  const ask = delegation(conversations, parent, { clock: systemClock });
  const task = { actionId: 7, agent: 'CodeActAgent', task: 'a part', leftSteps: 10, leftUsd: undefined };
  const { signal } = new AbortController();

  hasSpace = false; // for the child's first events
  await expect(ask(task, { signal })).rejects.toMatchObject({ code: 'undone' });
  hasSpace = true;
  const child = await conversations.createDelegated(parent, task);
  (await conversations.enter(child.id))!.release();
  hasSpace = false; // for its task
  await expect(ask(task, { signal })).rejects.toMatchObject({ code: 'undone' });
  hasSpace = true;
  expect(await ask(task, { signal })).toMatchObject({ ok: true, report: 'the part is done', outputs: { conversation_id: child.id } });
  const messages = (await (await conversations.log(child.id))!.read()).filter((event) => 'action' in event && event.action === 'message');
  expect(messages.map(({ source }) => source)).toEqual(['user', 'agent']);
});

it('TR718: in a delegated conversation the rules of the one that delegated it hold, as they are now', async () => {
  const { conversations } = conversationsWith(60_000, { llm: createScriptedProvider([]) });
  onTestFinished(() => conversations.close());
  const opened: StoredConversation = { ...(await conversations.get(await made(conversations)))!, selected_repository: 'a/b' };
  const own: ConfirmationRule[] = [{ decision: 'deny', command: 'git push' }];
  await conversations.approvals.setRules(opened.id, own);
  const child = await conversations.createDelegated(opened, { actionId: 7, agent: 'CodeActAgent' });
  const inherited = await conversations.approvals.inheritedRules(child);
  expect(inherited()).toEqual(own);
  const more: ConfirmationRule[] = [...own, { decision: 'allow', command: 'make' }];
  await conversations.approvals.setRules(opened.id, more);
  expect(inherited()).toEqual(more);
  await conversations.approvals.setRules(opened.id, []);
  expect(inherited()).toEqual([]);
  const ofRepository: ConfirmationRule = { decision: 'deny', command: 'make', repository: 'a/b' };
  const settings = { confirmation_rules: [ofRepository, { ...ofRepository, repository: 'c/d' }] } as Settings;
  expect(rulesOf(settings, child)).toEqual([ofRepository]);
  const grandchild = await conversations.createDelegated(child, { actionId: 8, agent: 'CodeActAgent' });
  expect(rulesOf(settings, grandchild)).toEqual([ofRepository]);
  await conversations.approvals.setRules(opened.id, own);
  expect((await conversations.approvals.inheritedRules(grandchild))()).toEqual(own);
});

it('EN401: a stop after a restart ends the work that was delegated before, though the agent was paused and never took it up', async () => {
  const playing = createScriptedProvider([]);
  const llm: typeof playing = {
    ...playing,
    async *stream({ messages }, options) {
      const isPart = JSON.stringify(messages).includes('count the tests');
      if (isPart && !JSON.stringify(messages).includes('count all files')) await new Promise(() => undefined);
      yield* createScriptedProvider([{ toolCalls: [{ name: 'delegate', arguments: { task: 'count the tests' } }] }]).stream(
        { messages, tools: [] },
        options,
      );
    },
  };
  const first = conversationsWith(60_000, { llm, delegates: 1 });
  const id = await made(first.conversations);
  await first.conversations.submit(id, MessageAction.create({ content: 'count all files' }));
  await vi.waitUntil(() => first.opened.length === 2, WAIT);
  const child = first.opened[1]!;
  await vi.waitUntil(() => first.conversations.state(child)?.agentState === 'running', WAIT);
  await first.conversations.submit(id, ChangeAgentStateAction.create({ agent_state: 'paused' }));
  await first.conversations.close();

  const next = conversationsWith(60_000, { storage: first.storage, home: first.home, llm, delegates: 1 });
  onTestFinished(() => next.conversations.close());
  await next.conversations.wakeActive();
  await vi.waitUntil(() => next.conversations.state(child)?.agentState === 'running', WAIT);
  expect(next.conversations.state(id)).toMatchObject({ agentState: 'paused', pending: [{ action: 'delegate' }] });
  await next.conversations.stop(id);
  expect(await next.conversations.get(id)).toMatchObject({ stopped: true, summary: { agent_state: 'stopped' } });
  expect(next.conversations.state(child)?.agentState).toBe('stopped');
});

it('EN956: a stop after a restart ends all levels below, and what each was allowed is looked up at the root', async () => {
  const llm: LlmProvider = {
    ...createScriptedProvider([]),
    async *stream(given, options) {
      const shown = JSON.stringify(given.messages);
      if (shown.includes('the part of the part')) await new Promise(() => undefined);
      const task = shown.includes('the part') ? 'the part of the part' : 'the part';
      yield* createScriptedProvider([{ toolCalls: [{ name: 'delegate', arguments: { task } }] }]).stream(given, options);
    },
  };
  const first = conversationsWith(60_000, { llm, delegates: 2 });
  const id = await made(first.conversations);
  await first.conversations.submit(id, MessageAction.create({ content: 'the whole' }));
  await vi.waitUntil(() => first.opened.length === 3, WAIT);
  const [, child, below] = first.opened as [string, string, string];
  await vi.waitUntil(() => first.conversations.state(below)?.agentState === 'running', WAIT);
  await first.conversations.close();

  const next = conversationsWith(60_000, { storage: first.storage, home: first.home, llm, delegates: 2 });
  onTestFinished(() => next.conversations.close());
  await next.conversations.setNetwork(id, { mode: 'allowlist', allow: ['example.org'] });
  const record = (await next.conversations.get(below))!;
  expect((await next.conversations.networkOf(record)).allow).toContain('example.org');
  expect(record.delegated_by).toMatchObject({ conversation_id: child, root: { conversation_id: id, depth: 2 } });
  await next.conversations.wakeActive();
  await vi.waitUntil(() => next.conversations.state(below)?.agentState === 'running', WAIT);
  await next.conversations.stop(id);
  await vi.waitUntil(() => next.conversations.state(below)?.agentState === 'stopped', WAIT);
  expect(next.conversations.state(child)?.agentState).toBe('stopped');
  expect(await next.conversations.delete(id)).toBe(true);
  expect([await next.conversations.get(child), await next.conversations.get(below)]).toEqual([undefined, undefined]);
});

it('EN942: a delegated agent is stopped when its time is over, and its last words are in the report', async () => {
  const playing = createScriptedProvider([
    { text: 'I have looked at half of it.', toolCalls: [{ name: 'think', arguments: { thought: 'x' } }] },
  ]);
  let asked = 0;
  const llm: typeof playing = {
    ...playing,
    async *stream(...given) {
      if (asked++ > 0) await new Promise(() => undefined);
      yield* playing.stream(...given);
    },
  };
  const { conversations } = conversationsWith(60_000, { llm });
  onTestFinished(() => conversations.close());
  const parent = (await conversations.get(await made(conversations)))!;
  const overNow = Promise.withResolvers<void>();
  const clock = { ...systemClock, sleep: () => overNow.promise };
  const task = { actionId: 7, agent: 'CodeActAgent', task: 'a part', leftSteps: 10, leftUsd: undefined, endsAt: new Date(0) };
  const report = delegation(conversations, parent, { clock })(task, { signal: new AbortController().signal });
  await vi.waitUntil(() => asked === 2, WAIT);
  overNow.resolve();
  expect(await report).toMatchObject({
    ok: true,
    report: expect.stringContaining('its time was over'),
    outputs: { agent_state: 'stopped' },
  });
});

const ISOLATED = { actionId: 7, agent: 'CodeActAgent', task: 'a part', leftSteps: 10, leftUsd: undefined, isIsolated: true };

/** Copies whose making a kill has cut off so often. */
function copiesCutOff(times: number) {
  const folders: string[] = [];
  return {
    folders,
    make: async ({ workspace }: { readonly workspace: string }): Promise<void> => {
      expect(existsSync(workspace)).toBe(false);
      mkdirSync(join(workspace, `half ${folders.length}`), { recursive: true });
      folders.push(workspace);
      if (folders.length <= times) await new Promise(() => undefined);
    },
    prepare: async () => '[You work in a copy.]',
    handOver: async (_child: unknown, done: Delegation) => done,
  };
}

it('EN953: a copy whose making was cut off is made anew, and what there was of it goes with the conversation', async () => {
  const copies = copiesCutOff(2);
  const { signal } = new AbortController();
  const llm = createScriptedProvider([{ text: 'the part is done' }]);
  let server = conversationsWith(60_000, { llm });
  const id = await made(server.conversations);
  const below = (): readonly string[] => readdirSync(join(server.home, 'workspaces')).filter((name) => name !== id);
  const asked = async () =>
    delegation(server.conversations, (await server.conversations.get(id))!, { clock: systemClock, copies })(ISOLATED, { signal });
  for (const count of [1, 2]) {
    void asked();
    await vi.waitUntil(() => copies.folders.length === count, WAIT);
    await server.conversations.close();
    server = conversationsWith(60_000, { llm, storage: server.storage, home: server.home });
  }
  onTestFinished(() => server.conversations.close());
  expect(await asked()).toMatchObject({ ok: true, report: 'the part is done' });
  const [child, ...others] = await server.conversations.delegatedBy(id);
  expect([below(), others]).toEqual([[child], []]);
  const record = await server.conversations.get(child!);
  expect(record).toMatchObject({ own_copy: 'used', workspace: copies.folders[2] });
  expect(await server.conversations.createDelegated(record!, { actionId: 8, agent: 'CodeActAgent' })).not.toHaveProperty('own_copy');
  await server.conversations.delete(id);
  expect(below()).toEqual([]);
});

it('EN953: what a copy has left that was cut off goes with the conversation', async () => {
  const copies = copiesCutOff(1);
  const first = conversationsWith(60_000, { llm: createScriptedProvider([]) });
  const id = await made(first.conversations);
  const parent = (await first.conversations.get(id))!;
  void delegation(first.conversations, parent, { clock: systemClock, copies })(ISOLATED, { signal: new AbortController().signal });
  await vi.waitUntil(() => copies.folders.length === 1, WAIT);
  await first.conversations.close();
  const next = conversationsWith(60_000, { storage: first.storage, home: first.home });
  onTestFinished(() => next.conversations.close());
  await next.conversations.delete(id);
  expect(readdirSync(join(next.home, 'workspaces'))).toEqual([]);
});

it('SV115: a client that chooses its ids is not given the one of a conversation whose copy is being made', async () => {
  const { conversations } = conversationsWith(60_000, { llm: createScriptedProvider([]) });
  onTestFinished(() => conversations.close());
  const parent = (await conversations.get(await made(conversations)))!;
  const place = Promise.withResolvers<string>();
  const copied = Promise.withResolvers<void>();
  const copy = ({ id }: { readonly id: string }): Promise<void> => (place.resolve(id), copied.promise);
  const child = conversations.createDelegated(parent, { actionId: 7, agent: 'CodeActAgent', copy });
  const id = await place.promise;
  const chosen = conversations.create({ id });
  copied.resolve();
  expect([(await child).id, await chosen]).toMatchObject([id, { ok: false, error: { code: 'CONVERSATION_ID_TAKEN' } }]);
});

it('EN138, EN953: a stop while a copy is prepared leaves neither it nor its conversation', async () => {
  const { conversations, home } = conversationsWith(60_000, { llm: createScriptedProvider([]) });
  onTestFinished(() => conversations.close());
  const id = await made(conversations);
  const stop = new AbortController();
  const prepare = async (): Promise<string> => {
    stop.abort();
    throw new Error('it was cancelled');
  };
  const ask = delegation(conversations, (await conversations.get(id))!, { clock: systemClock, copies: { ...copiesCutOff(0), prepare } });
  expect(await ask(ISOLATED, { signal: stop.signal })).toEqual({ ok: false, reason: 'it was cancelled.' });
  expect(await Promise.all((await conversations.delegatedBy(id)).map((each) => conversations.get(each)))).toEqual([]);
  expect(readdirSync(join(home, 'workspaces'))).toEqual([id]);
});

it('EN954: where no copy can be made nobody begins, and the reason is in words', async () => {
  const { conversations, home } = conversationsWith(60_000, { llm: createScriptedProvider([]) });
  onTestFinished(() => conversations.close());
  const id = await made(conversations);
  const parent = (await conversations.get(id))!;
  const { signal } = new AbortController();
  const failing = { ...copiesCutOff(0), make: () => Promise.reject(new Error('the disk is full')) };
  const noGit = { ...copiesCutOff(0), prepare: () => Promise.reject(new Error('there is no git in the sandbox')) };
  for (const [copies, words] of [
    [undefined, 'sandboxes of this server do not allow it'],
    [failing, 'the disk is full'],
    [noGit, 'there is no git in the sandbox'],
  ] as const) {
    const reason = expect.stringContaining(`${words}). Without isolated`) as string;
    expect(await delegation(conversations, parent, { clock: systemClock, copies })(ISOLATED, { signal })).toEqual({ ok: false, reason });
    const left = (await Promise.all((await conversations.delegatedBy(id)).map((each) => conversations.get(each)))).filter(Boolean);
    expect([left, readdirSync(join(home, 'workspaces'))]).toEqual([[], [id]]);
  }
});
