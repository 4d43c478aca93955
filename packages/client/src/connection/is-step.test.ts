import { type Event, fromJson } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { isStep } from './is-step.ts';

const event = (source: string, rest: object): Event => fromJson({ id: 1, timestamp: '2026-01-01T00:00:00Z', source, ...rest });

it.each([
  ['a command', event('agent', { action: 'run', args: { command: 'ls' } }), true],
  ['its output', event('agent', { observation: 'run', content: 'a', extras: { command: 'ls' }, cause: 1 }), true],
  ['what the agent says', event('agent', { action: 'message', args: { content: 'Done?' } }), false],
  ['the end', event('agent', { action: 'finish', args: {} }), false],
  ['another state', event('environment', { observation: 'agent_state_changed', content: '', extras: { agent_state: 'paused' } }), false],
  ['what the person says', event('user', { action: 'message', args: { content: 'Stop.' } }), false],
  ['a kind that is not known', event('agent', { action: 'snapshot', args: {} }), false],
])('CL1331: a person waits for all but steps: %s', (_name, one, answer) => {
  expect(isStep(one)).toBe(answer);
});
