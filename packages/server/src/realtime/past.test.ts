import { expect, it } from 'vitest';
import { fromJson, openhandsV0, type Event } from '@tendon/protocol';
import { Past } from './past.ts';

const META = { timestamp: '2026-11-22T10:00:00.000Z', source: 'agent', message: '' };
const run = (id: number): Event => fromJson({ ...META, id, action: 'run', args: { command: 'ls' } });
const look = (id: number): Event => fromJson({ ...META, id, action: 'recall', args: { query: 'not shown in a replay' } });
const state = (id: number, agent_state = 'running'): Event =>
  fromJson({ ...META, id, observation: 'agent_state_changed', content: '', extras: { agent_state } });

function sent(events: readonly Event[]): unknown[] {
  const past = new Past(openhandsV0);
  const frames = events.flatMap((event) => past.next(event));
  return [...frames, ...past.end()].map(({ id }) => id);
}

it('DL7: of the states only the last is sent', () => {
  expect(sent([state(0, 'loading'), run(1), state(2), run(3), state(4, 'awaiting_user_input')])).toEqual([1, 3, 4]);
  expect(sent([])).toEqual([]);
  expect(sent([state(0, 'loading'), run(1)])).toEqual([1]);
});

it('DL7: in the middle of a run the state comes before the last event, so that a client asks for what came after that', () => {
  expect(sent([run(1), state(2), run(3), run(4)])).toEqual([1, 3, 2, 4]);
  expect(sent([state(2), run(3)])).toEqual([2, 3]);
});

it('DL7: an event that is not shown is not the last', () => {
  expect(sent([run(1), state(2), run(3), look(4)])).toEqual([1, 2, 3]);
  expect(sent([state(2), look(3)])).toEqual([2]);
});
