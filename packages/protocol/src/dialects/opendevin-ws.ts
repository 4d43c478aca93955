import type { AgentState } from '../agent-state.ts';
import { isAction, isUnknown, type Action, type Observation } from '../event.ts';
import { decodeFrame } from './decode-frame.ts';
import type { Dialect, Frame, Phase } from './dialect.ts';
import type { Generation } from './opendevin-ws/generation.ts';
import type { WsGeneration } from './opendevin-ws/detect-generation.ts';
import { OPENDEVIN_2024_03, OPENDEVIN_2024_04 } from './opendevin-ws/opendevin-2024-03.ts';
import { OPENDEVIN_2024_05 } from './opendevin-ws/opendevin-2024-05.ts';
import { OPENDEVIN_2024_06, OPENDEVIN_2024_07, OPENDEVIN_2024_11 } from './opendevin-ws/opendevin-2024-07.ts';

export interface WsDialect extends Dialect {
  /** The frames that report the current state, as no event; none when the generation knows no states. */
  announce(state: AgentState, timestamp: string): readonly Frame[];
}

/** The dialect of `/ws` for one generation of clients. */
function createOpendevinWs(generation: Generation): WsDialect {
  return {
    name: 'opendevin-ws',
    greeting: generation.greeting,
    announce: generation.announce,
    encode(event, phase) {
      if (isUnknown(event)) return [generation.unknown(event)];
      if (generation.hides(event, phase)) return [];
      return isAction(event) ? encodeAction(generation, event, phase) : encodeObservation(generation, event, phase);
    },
    encodeVolatile: (frame) => (frame.volatile === 'status' ? generation.status(frame) : []),
    encodeError: generation.error,
    decode: decodeFrame,
  };
}

/** One row of the table by the event's own kind; the compiler cannot follow that the two belong together. */
function encodeAction(generation: Generation, event: Action, phase: Phase): readonly Frame[] {
  const encode = generation.actions[event.action] as (event: Action, phase: Phase) => readonly Frame[];
  return encode(event, phase);
}

function encodeObservation(generation: Generation, event: Observation, phase: Phase): readonly Frame[] {
  const encode = generation.observations[event.observation] as (event: Observation, phase: Phase) => readonly Frame[];
  return encode(event, phase);
}

export const opendevinWs: WsDialect = createOpendevinWs(OPENDEVIN_2024_03);

export const WS_DIALECTS: Readonly<Record<WsGeneration, WsDialect>> = {
  'opendevin-2024-03': opendevinWs,
  'opendevin-2024-04': createOpendevinWs(OPENDEVIN_2024_04),
  'opendevin-2024-05': createOpendevinWs(OPENDEVIN_2024_05),
  'opendevin-2024-06': createOpendevinWs(OPENDEVIN_2024_06),
  'opendevin-2024-07': createOpendevinWs(OPENDEVIN_2024_07),
  'opendevin-2024-11': createOpendevinWs(OPENDEVIN_2024_11),
};
