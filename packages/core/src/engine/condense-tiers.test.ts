import { CondensationAction, CondensationRequestAction, isAction, type Action, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bash, done, ID, isSummaryRequest, outline, stage, systemClock } from '../conversation/conversation.test-support.ts';
import type { LlmProvider, LlmRequest } from '../llm/llm-provider.ts';
import { createScriptedProvider, type ScriptedStep } from '../llm/scripted-provider.ts';
import { createMemoryStorage } from '../storage/index.ts';

const request = CondensationRequestAction.create({});
const isCondensation = (event: Event): event is Action<'condensation'> => isAction(event) && event.action === 'condensation';
const long = (n: number) => bash(`printf 'line ${n} %.0s' $(seq 200)`);

/** A model of a small window that takes these steps, and what it was asked. */
function model(steps: readonly ScriptedStep[], { summary = { text: 'In short.' } as ScriptedStep, contextWindow = 1_000_000 } = {}) {
  const seen: LlmRequest[] = [];
  let step = 0;
  const script = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return isSummaryRequest(asked) ? summary : (steps[step++] ?? done);
  };
  const provider: LlmProvider = { ...createScriptedProvider(script), contextWindow };
  return { seen, provider };
}

const full = (step: ScriptedStep): ScriptedStep => ({ ...step, usage: { inputTokens: 900_000 } });
const textOf = (asked: LlmRequest | undefined): string => JSON.stringify(asked?.messages);

it('EN850: what is nearly full loses its old results first, and only then becomes a summary', async () => {
  const few = (from: number): ScriptedStep[] => [1, 2, 3, 4, 5].map((n) => bash(`echo step ${from + n}`));
  const steps = [...[1, 2, 3, 4, 5].map(long), full(long(6)), ...few(10), full(bash('echo a')), ...few(20), full(bash('echo b'))];
  const { seen, provider } = model([...steps, done]);
  const { say, untilState, events } = await stage({ provider });
  await say('begin');
  await untilState('finished');
  const [first, ...others] = (await events()).filter(isCondensation);
  expect(first!.args).toMatchObject({ forgotten_event_ids: [], summary: null });
  expect(first!.args.cleared_until).toBeGreaterThan(0);
  expect(first!.args.tokens_after).toBeLessThan(first!.args.tokens_before! * 0.8);
  const next = textOf(seen[6]);
  expect(next).not.toContain('line 1 line 1 line 1');
  expect(next).toContain('line 6 line 6');
  expect(next).toContain('$(seq 200)'); // the calls stay
  expect(seen.filter(isSummaryRequest)).toHaveLength(1);
  expect(others.at(-1)!.args).toMatchObject({ summary: 'In short.', forgotten_events_start_id: 0 });
});

it('EN851: the summary is asked for with the conversation’s own request, and one message more', async () => {
  const { seen, provider } = model([...[1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`)), done]);
  const { say, submit, until, untilState } = await stage({ provider });
  await say('begin');
  await untilState('finished');
  await submit(request);
  await until(isCondensation);
  const asked = seen.find(isSummaryRequest)!;
  const before = seen[seen.indexOf(asked) - 1]!;
  expect(JSON.stringify(asked.messages.slice(0, before.messages.length))).toBe(JSON.stringify(before.messages));
  expect(asked.tools).toEqual(before.tools);
});

it('EN851: an answer without words, or a request that is too long, is asked again as a transcript, and all of it is paid for', async () => {
  for (const summary of [bash('ls'), { failure: 'LLM_CONTEXT_EXCEEDED' } as const]) {
    const own: ScriptedStep = 'failure' in summary ? summary : { ...summary, costUsd: 1 };
    const { seen, provider } = model([...[1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`)), done], { summary: own });
    const transcribed = createScriptedProvider(() => ({ text: 'From the transcript.', costUsd: 0.5 }));
    const either: LlmProvider = {
      ...provider,
      stream: (asked, options) => (asked.tools.length === 0 ? transcribed : provider).stream(asked, options),
    };
    const { say, submit, until, untilState } = await stage({ provider: either });
    await say('begin');
    await untilState('finished');
    await submit(request);
    const condensation = await until(isCondensation);
    expect(condensation).toMatchObject({ args: { summary: 'From the transcript.' } });
    expect(condensation.llm_metrics?.accumulated_cost).toBe('failure' in summary ? 0.5 : 1.5);
    expect(seen.filter(isSummaryRequest)).toHaveLength(1);
  }
});

it('EN852: a summary that is no shorter than what it stands for is refused, and not asked for again at once', async () => {
  const steps = [1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`));
  const { seen, provider } = model([...steps, full(bash('echo a')), full(bash('echo b')), done], {
    summary: { text: 'wordy '.repeat(2_000) },
  });
  const { say, untilState, events } = await stage({ provider });
  await say('begin');
  await untilState('finished');
  expect((await events()).some(isCondensation)).toBe(false);
  expect(outline(await events()).filter((line) => line.includes('condensation_request'))).toHaveLength(1);
  expect(seen.filter(isSummaryRequest)).toHaveLength(1);
});

it('EN852: a request that stays too long after everything was tried ends in the error, not in a circle', async () => {
  const steps = [1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`));
  const tooLong = Array.from({ length: 50 }, (): ScriptedStep => ({ failure: 'LLM_CONTEXT_EXCEEDED' }));
  const { seen, provider } = model([...steps, ...tooLong]);
  const { say, untilState } = await stage({ provider });
  await say('begin');
  await untilState('error');
  expect(seen.filter(isSummaryRequest).length).toBeLessThan(4);
});

it('EN853: the task, the plan and the changed files outlive a summary that leaves them out', async () => {
  const edit = {
    toolCalls: [{ name: 'str_replace_editor', arguments: { command: 'create', path: '/workspace/new.txt', file_text: 'hello' } }],
  };
  const plan = { toolCalls: [{ name: 'task_tracker', arguments: { command: 'plan', task_list: [{ title: 'The one thing' }] } }] };
  const { seen, provider } = model([plan, edit, ...[1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`)), done], {
    summary: { text: '.' },
  });
  const { say, submit, until, untilState } = await stage({ provider });
  await say('the task in my words');
  await untilState('finished');
  await submit(request);
  const { id } = await until(isCondensation);
  await say('go on');
  await untilState('finished', id);
  for (const words of ['the task in my words', 'The one thing', '/workspace/new.txt']) expect(textOf(seen.at(-1))).toContain(words);
});

it('EN854: a person puts another text in the place of the newest summary', async () => {
  const { seen, provider } = model([...[1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`)), done]);
  const { say, submit, until, untilState } = await stage({ provider });
  await say('begin');
  await untilState('finished');
  await submit(request);
  const { id } = await until(isCondensation);
  expect(await submit(CondensationAction.create({ edits: id - 1, summary: 'Better.' }))).toMatchObject({ ok: false });
  expect(await submit(CondensationAction.create({ edits: id, summary: ' ' }))).toMatchObject({ ok: false });
  expect(await submit(CondensationAction.create({ summary: 'Whole cloth.' }))).toMatchObject({
    ok: false,
    error: { code: 'NOT_FOR_CLIENTS' },
  });
  expect(await submit(CondensationAction.create({ edits: id, summary: 'Better.' }))).toMatchObject({ ok: true });
  await say('go on');
  await untilState('finished', id);
  expect(textOf(seen.at(-1))).toContain('Better.');
  expect(textOf(seen.at(-1))).not.toContain('In short.');
});

it('EN855: the newest condensation is undone, also after a restart, and the next begins where the one before it ended', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const first = model([...[1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`)), done]);
  const before = await stage({ provider: first.provider, log });
  await before.say('begin');
  await before.untilState('finished');
  await before.submit(request);
  const { id } = await before.until(isCondensation);
  await before.say('look');
  await before.untilState('finished', id);
  expect(textOf(first.seen.at(-1))).not.toContain('echo step 1');
  expect(await before.submit(CondensationAction.create({ undoes: id + 1 }))).toMatchObject({ ok: false });
  expect(await before.submit(CondensationAction.create({ undoes: id }))).toMatchObject({ ok: true });
  expect(await before.submit(CondensationAction.create({ undoes: id }))).toMatchObject({ ok: false });
  await before.say('again');
  await before.untilState('finished', log.nextId - 1);
  expect(textOf(first.seen.at(-1))).toContain('echo step 1');
  expect(textOf(first.seen.at(-1))).not.toContain('In short.');
  await before.conversation.close();

  const next = model([done]);
  const after = await stage({ provider: next.provider, log });
  const from = log.nextId;
  await after.say('and now');
  await after.untilState('finished', from);
  expect(textOf(next.seen.at(-1))).toContain('echo step 1');
  await after.submit(request);
  await after.until(isCondensation, from);
  expect(textOf(next.seen.find(isSummaryRequest))).toContain('echo step 1');
});
