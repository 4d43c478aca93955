import { CondensationRequestAction, isAction, isObservation, type Event, type Observation } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bash, done, isSummaryRequest, stage } from '../conversation/conversation.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';

const TASKS = [
  { id: 'a', title: 'Read the code', status: 'done' },
  { title: 'Fix the bug', status: 'in_progress', notes: 'in parse.ts' },
  { title: 'Run the tests' },
];
const tracked = (args: Readonly<Record<string, unknown>>): ScriptedStep => ({ toolCalls: [{ name: 'task_tracker', arguments: args }] });
const plan = tracked({ command: 'plan', task_list: TASKS });
const view = tracked({ command: 'view' });
const isTracked = (event: Event): event is Observation<'task_tracking'> => isObservation(event) && event.observation === 'task_tracking';
const SHOWN = '1. [x] a: Read the code\n2. [>] Fix the bug\n   in parse.ts\n3. [ ] Run the tests';

it('EN760: a plan is one action and one observation with all tasks, and viewing shows it', async () => {
  const { say, untilState, events, runtimes } = await stage({ script: [view, plan, view, done] });
  await say('begin');
  await untilState('finished');
  const whole = [
    { id: 'a', title: 'Read the code', status: 'done', notes: '' },
    { id: '2', title: 'Fix the bug', status: 'in_progress', notes: 'in parse.ts' },
    { id: '3', title: 'Run the tests', status: 'todo', notes: '' },
  ];
  expect((await events()).filter(isTracked).map(({ content, extras }) => ({ content, extras }))).toEqual([
    { content: 'There is no plan yet.', extras: { command: 'view', task_list: [] } },
    { content: 'The plan is saved: 1 of 3 done.', extras: { command: 'plan', task_list: whole } },
    { content: SHOWN, extras: { command: 'view', task_list: whole } },
  ]);
  expect(runtimes.started).toEqual([]);
});

it('EN761: a condensation that forgets the call which saved the plan leaves the plan as it stands', async () => {
  const seen: LlmRequest[] = [];
  const work = Array.from({ length: 6 }, (_, index) => bash(`echo step ${index}`));
  const steps = [plan, tracked({ command: 'plan', task_list: [{ title: 'The newer plan' }] }), ...work, done, view, done];
  let step = 0;
  const script = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return isSummaryRequest(asked) ? { failure: 'LLM_FAILED', retryable: false } : steps[step++]!;
  };
  const { say, submit, until, untilState, events } = await stage({ script });
  await say('begin');
  await untilState('finished');
  await submit(CondensationRequestAction.create({}));
  const condensation = await until((event) => isAction(event) && event.action === 'condensation');
  await say('go on');
  await untilState('finished', condensation.id);
  const asked = JSON.stringify(seen.at(-2)!.messages);
  expect(asked).toContain(JSON.stringify('[The plan, as saved with task_tracker]\n1. [ ] The newer plan').slice(1, -1));
  expect(asked).not.toContain('Fix the bug');
  expect((await events()).findLast(isTracked)?.content).toBe('1. [ ] The newer plan');
});

it('EN761: a plan whose call is still shown is not shown twice', async () => {
  const work = Array.from({ length: 6 }, (_, index) => bash(`echo step ${index}`));
  const { say, submit, until, untilState } = await stage({ script: [...work, plan, { text: 'A summary.' }] });
  await say('begin');
  await until(isTracked);
  await untilState('awaiting_user_input');
  await submit(CondensationRequestAction.create({}));
  const condensation = await until((event) => isAction(event) && event.action === 'condensation');
  expect(JSON.stringify(condensation)).not.toContain('as saved with task_tracker');
});
