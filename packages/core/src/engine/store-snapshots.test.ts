import { isAction, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { createScriptedProvider } from '../llm/scripted-provider.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import { StorageError, type EventLog, type SourcedDraft } from '../index.ts';
import { createMemoryStorage } from '../storage/index.ts';
import { projectMessages } from '../prompt/project-messages.test-support.ts';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { metadataOf } from '../prompt/random-log.test-support.ts';
import { countReads, ID, stage, systemClock, watchAppends, type Stage } from '../conversation/conversation.test-support.ts';
import { SNAPSHOT_EVERY } from './store-snapshots.ts';

const emptyLog = (): Promise<EventLog> => createMemoryStorage({ clock: systemClock }).events.open(ID);

/** Steps of an agent, as a host notes them: each a command and its output. */
function steps(count: number): (firstId: number) => readonly SourcedDraft[] {
  return (firstId) =>
    Array.from({ length: count }, (_, n): SourcedDraft[] => {
      const tool_call_metadata = metadataOf(`r${firstId}-${n}`, ['c'], 0);
      const call = { source: 'agent', tool_call_metadata } as const;
      const extras = { command: 'ls', metadata: { exit_code: 0 } };
      return [
        { ...call, action: 'run', args: { command: 'ls' } },
        { ...call, observation: 'run', content: `out ${n}`, extras, cause: firstId + 2 * n },
      ] as unknown as SourcedDraft[];
    }).flat();
}

const condensation = (firstId: number): readonly SourcedDraft[] =>
  [
    {
      source: 'agent',
      action: 'condensation',
      args: { forgotten_events_start_id: 0, forgotten_events_end_id: firstId - 10, summary: 'much was done', summary_offset: 0 },
    },
  ] as unknown as SourcedDraft[];

/** Lets the conversation grow by so many events, in batches, with or without condensations. */
async function grow({ conversation }: Stage, events: number, { condenses }: { readonly condenses: boolean }): Promise<void> {
  for (const end = conversation.state.nextId + events; conversation.state.nextId < end;) {
    await conversation.note(steps(20));
    if (condenses) await conversation.note(condensation);
  }
}

/** A model that says "ready", and what it was asked. */
function asked() {
  const requests: LlmRequest[] = [];
  const script = (request: LlmRequest) => {
    requests.push(request);
    return { text: 'ready' };
  };
  return { requests, provider: createScriptedProvider(script) };
}

/** Opened, asked and closed again: what was read for both, and what the model was shown. */
async function visit(log: EventLog): Promise<{ readonly opening: number; readonly request: number; readonly messages: unknown }> {
  const counted = countReads(log);
  const { requests, provider } = asked();
  const { conversation, say, untilState } = await stage({ log: counted.log, provider });
  const opening = counted.count;
  const answer = await say('and now?');
  if (!answer.ok) throw new Error(answer.error.message);
  await untilState('awaiting_user_input', answer.event.id);
  await conversation.close();
  return { opening, request: counted.count - opening, messages: requests[0]!.messages };
}

it('EN201: a conversation of thousands of events is opened by reading the newest of them and what is shown', async () => {
  const log = await emptyLog();
  const first = await stage({ log, provider: asked().provider });
  await first.say('begin');
  await grow(first, 4_000, { condenses: true });
  await first.conversation.close();
  const before = log.nextId;
  const { opening, request, messages } = await visit(log);
  expect(opening).toBeLessThanOrEqual(SNAPSHOT_EVERY);
  expect(request).toBeLessThanOrEqual(100);
  const whole = (await log.read()).slice(0, before + 4);
  expect(messages).toEqual(projectMessages(upToRequest(whole), codeActAgent));
});

it('EN201: a condensation is followed by a snapshot, however few events there were', async () => {
  const log = await emptyLog();
  const first = await stage({ log });
  await first.conversation.note(steps(20));
  await first.conversation.note(condensation);
  const condensedAt = log.nextId - 1;
  await first.conversation.close();
  expect(await log.snapshot()).toMatchObject({ nextId: condensedAt + 1 });
});

it('EN201: a long log without a condensation is opened by reading the newest of its events', async () => {
  const log = await emptyLog();
  const first = await stage({ log, provider: asked().provider });
  await grow(first, 2_000, { condenses: false });
  await first.conversation.close();
  const counted = countReads(log);
  const { conversation } = await stage({ log: counted.log });
  expect(counted.count).toBeLessThanOrEqual(SNAPSHOT_EVERY);
  expect(conversation.state.nextId).toBe(log.nextId);
});

it('EN201: a log that was written without snapshots is read once, and has one from then on', async () => {
  const log = await emptyLog();
  const source = await emptyLog();
  const first = await stage({ log: source });
  await grow(first, 2_000, { condenses: true });
  await log.append((await source.read()) as readonly SourcedDraft[], { expectedId: 0 });
  expect(await log.snapshot()).toBeUndefined();
  const { opening, request } = await visit(log);
  expect(opening).toBe(source.nextId);
  expect(request).toBeLessThanOrEqual(100);
  const again = await visit(log);
  expect(again.opening).toBeLessThanOrEqual(SNAPSHOT_EVERY);
  expect(again.request).toBeLessThanOrEqual(100);
});

it('EN201: a storage that cannot take a snapshot is reported, and the conversation goes on', async () => {
  const log = await emptyLog();
  const full: EventLog = {
    ...watchAppends(log, () => undefined),
    get nextId() {
      return log.nextId;
    },
    storeSnapshot: () => Promise.reject(new StorageError('undone', 'no room')),
  };
  const { conversation, reported, say, untilState } = await stage({ log: full, provider: asked().provider, snapshotEvery: 5 });
  expect(await say('begin')).toMatchObject({ ok: true });
  await untilState('awaiting_user_input', 3);
  await conversation.close();
  expect(reported[0]).toMatchObject({ code: 'undone' });
  expect(await log.snapshot()).toBeUndefined();
});

/** What the model has been asked with: everything up to the state `running` after the message. */
function upToRequest(events: readonly Event[]): readonly Event[] {
  const last = events.findLastIndex((event) => isAction(event) && event.action === 'message' && event.source === 'user');
  return events.slice(0, last + 4);
}
