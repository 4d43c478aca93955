import type { Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { endOf, exitCodeOf, saysDone } from './outcome.ts';

const state = (agent_state: string) => ({ observation: 'agent_state_changed', extras: { agent_state } }) as unknown as Event;

it.each([
  ['finished', 0],
  ['awaiting_user_input', 0],
  ['rejected', 1],
  ['error', 1],
  ['paused', 1],
  ['stopped', 1],
  ['awaiting_user_confirmation', 3],
  ['running', undefined],
  ['loading', undefined],
  ['rate_limited', undefined],
])('%s ends a run with %s', (name, exitCode) => {
  const end = endOf(state(name));
  expect(end && exitCodeOf(end, { isDone: true, asks: false })).toBe(exitCode);
});

it('a task that the agent calls undone is a failure', () => {
  const finish = { action: 'finish', args: { task_completed: 'false' } } as unknown as Event;
  expect([saysDone(finish), exitCodeOf('finished', { isDone: false, asks: false })]).toEqual([false, 1]);
});

it('CL962: a question with answers to choose from needs a decision', () => {
  expect(exitCodeOf('awaiting_user_input', { isDone: true, asks: true })).toBe(3);
});
