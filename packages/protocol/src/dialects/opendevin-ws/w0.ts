import { failed } from './frames.ts';
import type { Generation } from './generation.ts';
import { writesOutside } from './in-workspace.ts';
import { W0_ACTIONS } from './w0-actions.ts';
import { W0_OBSERVATIONS } from './w0-observations.ts';

/** Spring 2024, the letter of the seed protocol documents: one session per socket, no ids, no tokens, no states. */
export const W0: Generation = {
  greeting: [{ action: 'initialize', message: 'Control loop started.' }],
  hides: () => false,
  actions: W0_ACTIONS,
  observations: W0_OBSERVATIONS,
  unknown({ raw }) {
    const { id: _id, timestamp: _time, source: _source, cause: _cause, executor: _inside, ...frame } = raw;
    return frame;
  },
  announce: () => [],
  status: (frame) => (frame.type === 'error' ? [failed(frame.message)] : []),
  error: (error) => failed(error.message),
};

/** 0.3: the same at another endpoint, with a file tree of the workspace. */
export const W1: Generation = { ...W0, hides: writesOutside };
