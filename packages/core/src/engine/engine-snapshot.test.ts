import { CondensationAction, type Event } from '@tendon/protocol';
import * as fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import type { EventLog, SourcedDraft } from '../log/event-log.ts';
import { createViewFeed } from './view-feed.ts';
import { createMemoryStorage } from '../storage/index.ts';
import { legalityProblems } from '../prompt/legal-request.test-support.ts';
import { projectMessages } from '../prompt/project-messages.test-support.ts';
import { View } from '../prompt/view.ts';
import { everyKindLog, implausibleLog, metadataOf, plausibleLog, toLog } from '../prompt/random-log.test-support.ts';
import { ID, openedFold, systemClock } from '../conversation/conversation.test-support.ts';
import { FOLD_VERSION, readSnapshot, snapshotOf } from './engine-snapshot.ts';
import { foldEngine, INITIAL_ENGINE_STATE, type EngineState } from './engine-state.ts';

const agent = codeActAgent;
const foldAll = (events: readonly Event[]): EngineState => events.reduce(foldEngine, INITIAL_ENGINE_STATE);

async function emptyLog(): Promise<EventLog> {
  return createMemoryStorage({ clock: systemClock }).events.open(ID);
}

async function append(log: EventLog, events: readonly Event[]): Promise<void> {
  const timestamps = events.map(({ timestamp }) => timestamp);
  await log.append(events as readonly SourcedDraft[], { expectedId: log.nextId, timestamps });
}

/** Opens the log and stores its fold, as an open conversation does that has asked the model. */
async function openAndStore(log: EventLog): Promise<void> {
  const { folded, view } = await openedFold(log);
  await view.messages();
  view.close();
  await log.storeSnapshot(snapshotOf({ state: folded.state, view: view.outline }));
}

it('EN199: opened from snapshots taken anywhere, state and request are those of the whole log', async () => {
  const cuts = fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 4 }).map((all) => all.toSorted((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(fc.oneof(plausibleLog, implausibleLog), cuts, async (events, at) => {
      const log = await emptyLog();
      for (const cut of at) {
        await append(log, events.slice(log.nextId, cut));
        await openAndStore(log);
      }
      await append(log, events.slice(log.nextId));
      const stored = await log.read();
      const { folded, view, storedTo } = await openedFold(log);
      expect(storedTo).toBe(Math.min(at.at(-1)!, events.length));
      expect(folded.state).toStrictEqual(foldAll(stored));
      const { messages } = await view.messages();
      expect(messages).toStrictEqual(projectMessages(stored, agent));
      expect(legalityProblems(messages)).toEqual([]);
    }),
    { numRuns: runs(300, 75) },
  );
});

it('EN199: opened without a snapshot, the state and the request are the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(plausibleLog, implausibleLog), async (events) => {
      const log = await emptyLog();
      await append(log, events);
      const stored = await log.read();
      const { folded, view, storedTo } = await openedFold(log);
      expect(storedTo).toBe(0);
      expect(folded.state).toStrictEqual(foldAll(stored));
      expect((await view.messages()).messages).toStrictEqual(projectMessages(stored, agent));
    }),
    { numRuns: runs(100, 25) },
  );
});

it('EN199: a pending action is stored by its id, however large it is', async () => {
  const log = await emptyLog();
  const args = { path: '/workspace/a', content: 'x'.repeat(200_000), start: 0, end: -1 };
  await append(log, toLog([{ action: 'write', args, tool_call_metadata: metadataOf('r', ['c'], 0) }]));
  await openAndStore(log);
  expect((await log.snapshot())!.text.length).toBeLessThan(5_000);
  expect((await readSnapshot(log))!.state.conversation.pending).toEqual(await log.read());
});

it('EN200: a snapshot of another version, of other events, or that is none, is ignored', async () => {
  const log = await emptyLog();
  await append(log, everyKindLog());
  await openAndStore(log);
  const { nextId, text } = (await log.snapshot())!;
  const whole = await log.read();
  const pending = foldAll(whole).conversation.pending[0]!.id;
  const others = [
    { nextId, text: '' },
    { nextId, text: text.slice(0, -1) },
    { nextId, text: '{}' },
    { nextId, text: 'null' },
    { nextId, text: text.replace(`"${FOLD_VERSION} `, `"${FOLD_VERSION + 1} `) },
    { nextId, text: text.replace(' shownMicroagents', ' otherMicroagents') },
    { nextId: nextId - 1, text },
    { nextId: nextId + 1, text },
    { nextId, text: text.replace(`[${pending},`, `[${nextId + 5},`) },
  ];
  for (const other of others) {
    expect(other).not.toEqual({ nextId, text });
    await log.storeSnapshot(other);
    expect(await readSnapshot(log), other.text.slice(0, 80)).toBeUndefined();
  }
});

it('EN200: an outline that does not match the log: the view is built from the whole log', async () => {
  const log = await emptyLog();
  const condensation = CondensationAction.create({
    forgotten_events_start_id: 0,
    forgotten_events_end_id: 2,
    summary: 'ran',
    summary_offset: 0,
  });
  const run = { action: 'run', args: { command: 'ls' }, tool_call_metadata: metadataOf('r', ['c'], 0) };
  await append(log, toLog([{ source: 'user', action: 'message', args: { content: 'go' } }, run, run, condensation]));
  await openAndStore(log);
  const { folded, outline } = await openedFold(log);
  const request = projectMessages(await log.read(), agent);
  const notThere = { eventId: 99 };
  const noCall = { openedBy: 0, calls: [] };
  const otherCalls = { openedBy: 1, calls: [] };
  for (const entry of [notThere, noCall, otherCalls]) {
    const feed = createViewFeed({ agent: () => agent, log, folded }, { ...outline, entries: [entry] });
    expect((await feed.messages()).messages).toEqual(request);
  }
});

/**
 * When this fails, folding gives another state, or the view has other entries, than before: existing snapshots are outdated.
 * Raise FOLD_VERSION in engine-snapshot.ts and put the new pair here. (When a field was only added or removed, the digest alone.)
 */
it('EN200: a change to the result of folding raises the version', () => {
  const view = new View(agent);
  let state = INITIAL_ENGINE_STATE;
  let digest = 0;
  for (const event of everyKindLog()) {
    state = foldEngine(state, event);
    view.add(event);
    digest = crc32(snapshotOf({ state, view: view.outline }).text, digest);
  }
  expect([FOLD_VERSION, digest]).toEqual([11, 22694810]);
});
