import { expect, it } from 'vitest';
import { AGENT_STATES } from '../agent-state.ts';
import { fromJson } from '../codec.ts';
import type { Frame, Phase } from './dialect.ts';
import { openhandsV0InBand } from './openhands-v0-in-band.ts';

function statesShown(agent_state: string, phase: Phase = 'live'): unknown[] {
  const event = fromJson({ id: 1, timestamp: 't', source: 'environment', observation: 'agent_state_changed', extras: { agent_state } });
  return openhandsV0InBand.encode(event, phase).map((frame) => (frame.extras as Frame).agent_state);
}

it('DL38: a frontend of 0.15 sees init before it may write, and no state that came after it', () => {
  expect(statesShown('awaiting_user_input')).toEqual(['init', 'awaiting_user_input']);
  expect(AGENT_STATES.flatMap((state) => statesShown(state))).not.toContain('rate_limited');
  expect(statesShown('running')).toEqual(['running']);
});

it('DL126: a thought is a message to it, and what is only for the record would be one in its chat', () => {
  const shown = (json: object) => openhandsV0InBand.encode(fromJson({ id: 1, timestamp: 't', source: 'agent', ...json }), 'live');
  expect(shown({ action: 'think', args: { thought: 'hm' } })).toMatchObject([
    { id: 1, action: 'message', args: { content: 'hm' }, message: 'hm' },
  ]);
  expect(shown({ action: 'think', args: { thought: '' } })).toEqual([]);
  expect(shown({ observation: 'think', content: 'noted', extras: {} })).toEqual([]);
  expect(shown({ observation: 'error', content: 'no', extras: { error_id: '' } })).toHaveLength(1);
});

it('DL192: it is sent the current state, not as an event, when none was stored after its cursor', () => {
  const frames = openhandsV0InBand.announce!('running', '2026-11-22T10:00:00.000Z');
  expect(frames.map(({ extras }) => (extras as Frame).agent_state)).toEqual(['init', 'running']);
  for (const frame of frames) expect(frame).not.toHaveProperty('id');
});

it('DL122: it sees init before the state that a replay ends with, whichever it is', () => {
  for (const state of AGENT_STATES) expect(statesShown(state, 'replay')[0]).toBe('init');
  expect(statesShown('finished', 'replay')).toEqual(['init', 'finished']);
  expect(statesShown('init', 'replay')).toEqual(['init']);
});
