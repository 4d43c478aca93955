import { isAction, isUnknown, type Action, type Observation } from '../event.ts';
import { decodeFrame } from './decode-frame.ts';
import type { Dialect, Frame, Phase } from './dialect.ts';
import { failed } from './opendevin-ws/frames.ts';
import type { Generation } from './opendevin-ws/generation.ts';
import { W0_ACTIONS } from './opendevin-ws/w0-actions.ts';
import { W0_OBSERVATIONS } from './opendevin-ws/w0-observations.ts';

/** Spring 2024, the letter of the founding documents: one session per socket, no ids, no tokens, no states. */
export const W0: Generation = {
  greeting: [{ action: 'initialize', message: 'Control loop started.' }],
  actions: W0_ACTIONS,
  observations: W0_OBSERVATIONS,
  unknown({ raw }) {
    const { id: _id, timestamp: _time, source: _source, cause: _cause, executor: _inside, ...frame } = raw;
    return frame;
  },
  status: (frame) => (frame.type === 'error' ? [failed(frame.message)] : []),
  error: (error) => failed(error.message),
};

/** The dialect of `/ws` for one generation of clients. */
export function createOpendevinWs(generation: Generation): Dialect {
  return {
    name: 'opendevin-ws',
    greeting: generation.greeting,
    encode(event, phase) {
      if (isUnknown(event)) return [generation.unknown(event)];
      return isAction(event) ? encodeAction(generation, event, phase) : encodeObservation(generation, event, phase);
    },
    encodeVolatile: (frame) => (frame.volatile === 'status' ? generation.status(frame) : []),
    encodeError: generation.error,
    decode: decodeFrame,
  };
}

/** One row of the table by the event's own kind; the compiler can not follow that the two belong together. */
function encodeAction(generation: Generation, event: Action, phase: Phase): readonly Frame[] {
  const encode = generation.actions[event.action] as (event: Action, phase: Phase) => readonly Frame[];
  return encode(event, phase);
}

function encodeObservation(generation: Generation, event: Observation, phase: Phase): readonly Frame[] {
  const encode = generation.observations[event.observation] as (event: Observation, phase: Phase) => readonly Frame[];
  return encode(event, phase);
}

export const opendevinWs: Dialect = createOpendevinWs(W0);
