import { expect, it } from 'vitest';
import { AGENT_STATES } from '../agent-state.ts';
import { fromJson } from '../codec.ts';
import type { Frame } from './dialect.ts';
import { openhandsV0InBand } from './openhands-v0-in-band.ts';

function statesShown(agent_state: string): unknown[] {
  const event = fromJson({ id: 1, timestamp: 't', source: 'environment', observation: 'agent_state_changed', extras: { agent_state } });
  return openhandsV0InBand.encode(event, 'live').map((frame) => (frame.extras as Frame).agent_state);
}

it('DL38: a frontend of 0.15 sees init before it may write, and no state that came after it', () => {
  expect(statesShown('awaiting_user_input')).toEqual(['init', 'awaiting_user_input']);
  expect(AGENT_STATES.flatMap(statesShown)).not.toContain('rate_limited');
  expect(statesShown('running')).toEqual(['running']);
});
