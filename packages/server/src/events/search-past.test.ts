import { createMemoryStorage } from '@tendon/core/storage';
import { MessageAction, RecallObservation, RunAction } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { agentOf } from '../conversations/agents/agent-of.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import { systemClock } from '../platform/system-clock.ts';
import { socketIoClient, testConfig, testServer } from '../server.test-support.ts';
import { READS_ALL, searchOf } from './event-search.test-support.ts';
import { searchPast } from './search-past.ts';

const signal = new AbortController().signal;
const logger = { warn: (...what: unknown[]) => expect.fail(String(what)) };
const written = (content: string) => ({ source: 'user' as const, ...MessageAction.create({ content }) });

/** Conversations by their ids, the newest first, each with what was written in it. */
async function conversationsOf(
  parts: readonly (Partial<StoredConversation> & { readonly id: string; readonly texts: readonly string[] })[],
) {
  const storage = createMemoryStorage({ clock: systemClock });
  const records: StoredConversation[] = [];
  for (const { texts, ...part } of parts) {
    const log = await storage.events.open(part.id);
    await log.append(texts.map(written), { expectedId: 0 });
    records.push({ title: `About ${part.id}`, workspace: `/w/${part.id}`, selected_repository: null, ...part } as StoredConversation);
  }
  const conversations = {
    list: async () => records,
    log: async (id: string) => (records.some((one) => one.id === id) ? storage.events.open(id) : undefined),
  };
  return { storage, records, conversations };
}

const ids = (hits: readonly { readonly conversationId: string; readonly eventId: number }[]): readonly string[] =>
  hits.map(({ conversationId, eventId }) => `${conversationId}${eventId}`);

it('EN917: its own come first, then those of the same folder or repository, then the rest, the newest of each first', async () => {
  const text = ['a marmalade otter', 'nothing', 'the Otter likes MARMALADE'];
  const { records, conversations } = await conversationsOf([
    { id: 'a', texts: text },
    { id: 'b', texts: text, workspace: '/w/own' },
    { id: 'c', texts: text, delegated_by: { conversation_id: 'b', action_id: 1 } },
    { id: 'd', texts: ['otter', 'marmalade'] },
    { id: 'own', texts: text, selected_repository: 'o/r', git_provider: 'github' },
    { id: 'e', texts: text, selected_repository: 'o/r', git_provider: 'gitlab' },
    { id: 'f', texts: text, selected_repository: 'o/r', git_provider: 'github' },
  ]);
  const search = searchPast(
    records.find(({ id }) => id === 'own')!,
    { conversations, eventSearch: READS_ALL, logger },
  );
  const { hits, isPartial } = await search('marmalade OTTER', { signal });
  expect(ids(hits)).toEqual(['own2', 'own0', 'b2', 'b0', 'f2', 'f0', 'a2', 'a0', 'e2', 'e0']);
  expect(hits[0]).toMatchObject({ title: 'About own', from: 'the user', excerpt: 'the Otter likes MARMALADE' });
  expect(isPartial).toBe(false);
  expect((await search('no ab', { signal })).hits).toEqual([]);
});

it('EN917: a conversation that others begin, and an attempt of an evaluation, find nothing but their own', async () => {
  const { records, conversations } = await conversationsOf([
    { id: 'private', texts: ['marmalade'], workspace: '/w/own' },
    { id: 'own', texts: ['marmalade'] },
  ]);
  const found = async (trigger: string) => {
    const search = searchPast({ ...records[1]!, trigger }, { conversations, eventSearch: READS_ALL, logger });
    const { hits, isPartial } = await search('marmalade', { signal });
    expect(isPartial).toBe(false);
    return ids(hits);
  };
  for (const trigger of ['mention', 'webhook', 'eval']) expect([trigger, await found(trigger)]).toEqual([trigger, ['own0']]);
  for (const trigger of ['gui', 'schedule']) expect([trigger, await found(trigger)]).toEqual([trigger, ['own0', 'private0']]);
});

it('EN917: excerpts are short, of one conversation there are three, and what was recalled or hidden is not found', async () => {
  const { storage, records, conversations } = await conversationsOf([
    { id: 'own', texts: Array.from({ length: 9 }, () => 'otter '.repeat(9_000)) },
  ]);
  const log = await storage.events.open('own');
  const hidden = { source: 'agent' as const, ...RunAction.create({ command: 'echo platypus', hidden: true }) };
  const recalled = { source: 'environment' as const, ...RecallObservation.create('platypus', { recall_type: 'default' }) };
  await log.append([hidden, recalled], { expectedId: log.nextId });
  const search = searchPast(records[0]!, { conversations, eventSearch: searchOf(storage), logger });
  const { hits } = await search('otter', { signal });
  expect(ids(hits)).toEqual(['own8', 'own7', 'own6']);
  for (const { excerpt } of hits) expect(excerpt.length).toBeLessThan(500);
  expect((await search('platypus', { signal })).hits).toEqual([]);
});

it('EN917: a search that has no time left says that it is not whole', async () => {
  const { records, conversations } = await conversationsOf([{ id: 'own', texts: ['otter'] }]);
  const search = searchPast(records[0]!, { conversations, eventSearch: READS_ALL, logger });
  expect(await search('otter', { signal: AbortSignal.abort() })).toEqual({ hits: [], isPartial: true });
});

describe('the tool', () => {
  const names = (record: object, env: Readonly<Record<string, string>> = {}) =>
    agentOf({ agent: 'CodeActAgent', ...record }, testConfig('/nowhere', env), []).tools.map(({ spec }) => spec.name);

  it('EN918: is not offered to an agent that does a part of the work, nor where it is switched off', () => {
    expect(names({})).toContain('recall');
    expect(names({ delegated_by: { conversation_id: 'a', action_id: 1 } })).not.toContain('recall');
    expect(names({}, { AGENT_TOOLS: 'grep' })).not.toContain('recall');
  });

  it('EN916, EN917: finds what a person wrote in an earlier conversation, and nothing of a deleted one', async () => {
    const recall = { toolCalls: [{ name: 'recall', arguments: { query: 'marmalade otter' } }] };
    const server = await testServer({ script: [recall, { text: 'done' }] });
    const first = await server.create();
    await (await socketIoClient(server, { conversation_id: first })).ask('the marmalade otter is spelled with two t');
    const foundIn = async (words: string): Promise<string> => {
      const id = await server.create();
      const client = await socketIoClient(server, { conversation_id: id });
      await client.ask(words);
      const found = client.frames.all.find(({ observation, extras }) => observation === 'recall' && extras?.recall_type === 'default');
      return String(found?.content);
    };
    expect(await foundIn('go on')).toContain('spelled with two t');
    const deleted = await fetch(`${server.url}/api/conversations/${first}`, { method: 'DELETE' });
    expect(deleted.ok).toBe(true);
    expect(await foundIn('once more')).not.toContain('spelled with two t');
  });
});
