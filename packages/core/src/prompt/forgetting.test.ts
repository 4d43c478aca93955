import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CondensationAction, RunAction, RunObservation } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { legalityProblems } from './legal-request.test-support.ts';
import { metadataOf, toLog } from './random-log.test-support.ts';
import { View } from './view.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const EVENTS = 4_000;
const CONDENSED_EVERY = 400;
const RETAINED = 20;

/** Commands with their output, and a condensation that leaves the last of them after every few hundred. */
function longLog(idOf: (step: number) => string) {
  const raws: Record<string, unknown>[] = [{ source: 'user', action: 'message', args: { content: 'do it' } }];
  for (let step = 0; raws.length < EVENTS; step++) {
    const metadata = metadataOf(`r${step}`, [idOf(step)], 0);
    raws.push({ ...RunAction.create({ command: 'ls' }), tool_call_metadata: metadata });
    raws.push({ ...RunObservation.create(`out ${step}`, { command: 'ls' }), cause: raws.length - 1, tool_call_metadata: metadata });
    if (step % (CONDENSED_EVERY / 2) !== 0) continue;
    const end = raws.length - RETAINED;
    raws.push(
      CondensationAction.create({ forgotten_events_start_id: 0, forgotten_events_end_id: end, summary: 'much', summary_offset: 0 }),
    );
  }
  return toLog(raws);
}

it('EN197: the view holds nothing of a call that a condensation forgot', async () => {
  const view = new View(codeActAgent);
  const calls: WeakRef<object>[] = [];
  for (const event of longLog((step) => `call_${step}`)) {
    view.add(event);
    if (!('action' in event) || event.action !== 'run') continue;
    const { messages } = view.project();
    const last = messages.findLast((message) => message.role === 'assistant');
    calls.push(new WeakRef(last!.toolCalls![0]!));
  }
  // A WeakRef keeps its target alive until the end of the task that made it.
  await setImmediate();
  collect();
  const { messages } = view.project();
  const shown = messages.filter(({ role }) => role === 'tool').length;
  expect(calls.length).toBeGreaterThan(1_900);
  expect(calls.filter((call) => call.deref()).length).toBe(shown);
  expect(shown).toBeLessThanOrEqual(CONDENSED_EVERY);
});

it('EN197: the id of a forgotten call is free again, and every request has each id once', () => {
  const view = new View(codeActAgent);
  const highest: number[] = [];
  for (const event of longLog(() => 'call_0')) {
    view.add(event);
    if (!('action' in event) || event.action !== 'condensation') continue;
    const { messages } = view.project();
    expect(legalityProblems(messages)).toEqual([]);
    const ids = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).map(({ id }) => id);
    highest.push(Math.max(...ids.map((id) => Number(id.split('_')[2] ?? 1))));
  }
  expect(highest.length).toBeGreaterThan(5);
  expect(Math.max(...highest)).toBeLessThanOrEqual(CONDENSED_EVERY);
});

it('EN43: a result that comes after its call was forgotten is shown as late', () => {
  const metadata = metadataOf('r', ['c1'], 0);
  const view = new View(codeActAgent);
  const log = toLog([
    { source: 'user', action: 'message', args: { content: 'go' } },
    { ...RunAction.create({ command: 'ls' }), tool_call_metadata: metadata },
    CondensationAction.create({ forgotten_events_start_id: 0, forgotten_events_end_id: 1, summary: 'ran', summary_offset: 0 }),
    { ...RunObservation.create('a.txt', { command: 'ls' }), cause: 1, tool_call_metadata: metadata },
  ]);
  for (const event of log) view.add(event);
  expect(view.project().messages.at(-1)!.text).toMatch(/^\[Late result of an earlier execute_bash call\]\na\.txt/);
});

it('EN197: a call that waited while it was forgotten is shown when it is carried out after all', () => {
  const view = new View(codeActAgent);
  const run = { ...RunAction.create({ command: 'ls' }), tool_call_metadata: metadataOf('r', ['c1'], 0) };
  const log = toLog([
    { source: 'user', action: 'message', args: { content: 'go' } },
    run,
    CondensationAction.create({ forgotten_events_start_id: 0, forgotten_events_end_id: 1, summary: 'it waits', summary_offset: 0 }),
    run,
    { ...RunObservation.create('a.txt', { command: 'ls' }), cause: 3 },
  ]);
  for (const event of log) view.add(event);
  expect(view.project().messages.slice(-2)).toMatchObject([
    { role: 'assistant', toolCalls: [{ id: 'c1' }] },
    { role: 'tool', toolCallId: 'c1' },
  ]);
});
