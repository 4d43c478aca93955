import type { AgentState } from '../agent-state.ts';
import { isAction, isUnknown } from '../event.ts';
import type { Dialect, Frame, Phase } from './dialect.ts';
import { openhandsV0Early } from './openhands-pages.ts';
import { behindCommand } from './cell-pictures.ts';

/** The states a frontend of 0.15 gets for one of today: it becomes active at `init`, and breaks on a state it does not know. */
const OLD_STATES: Partial<Record<AgentState, readonly AgentState[]>> = {
  awaiting_user_input: ['init', 'awaiting_user_input'],
  rate_limited: ['running'],
};

/**
 * Socket.IO clients of OpenHands 0.15 … 0.17, which send `initialize` in band: as those that followed, with the states of their time and
 * the names that went away at 0.20. Of a finish 0.15 shows the message, 0.16 and 0.17 the thought.
 */
export const openhandsV0InBand: Dialect = {
  ...openhandsV0Early,
  /** The frontend becomes active by the answer to its `initialize`, even when it has everything already. */
  announce: (state, timestamp) =>
    statesFor(state, 'replay').map((agent_state) => {
      const meta = { timestamp, source: 'environment', message: '' };
      return { ...meta, observation: 'agent_state_changed', content: '', extras: { agent_state, reason: '' } };
    }),
  encode(event, phase) {
    const frames = openhandsV0Early.encode(event, phase);
    if (isUnknown(event)) return frames;
    return isAction(event) ? frames.flatMap(withOldArgs) : frames.flatMap((frame) => withOldExtras(frame, phase));
  },
};

function withOldArgs(frame: Frame): readonly Frame[] {
  const args = frame.args as Frame;
  switch (frame.action) {
    case 'run':
      return [{ ...frame, args: { ...args, keep_prompt: true } }];
    case 'modify_task':
      return [{ ...frame, args: { ...args, task_id: args.id } }];
    case 'think':
      return args.thought === '' ? [] : [asMessage(frame, String(args.thought))];
    default:
      return [frame];
  }
}

/** Thoughts of their own came later: it would pass over them. */
function asMessage(frame: Frame, content: string): Frame {
  return { ...frame, message: content, action: 'message', args: { content, image_urls: null, wait_for_response: false } };
}

/** Its chat has the message of every observation that it does not know; these are for the record. */
const NOT_SHOWN: ReadonlySet<unknown> = new Set(['recall', 'think', 'loop_detection']);

function withOldExtras(frame: Frame, phase: Phase): readonly Frame[] {
  if (NOT_SHOWN.has(frame.observation)) return [];
  const extras = frame.extras as Frame;
  switch (frame.observation) {
    case 'run':
      return [withCommand({ ...frame, extras: { ...extras, interpreter_details: interpreterOf(extras.metadata as Frame) } })];
    case 'edit':
      return [{ ...frame, extras: { ...extras, old_content: extras.old_content ?? '', new_content: extras.new_content ?? '' } }];
    case 'agent_state_changed':
      return statesFor(extras.agent_state as AgentState, phase).map((agent_state) => ({ ...frame, extras: { ...extras, agent_state } }));
    default:
      return [frame];
  }
}

/** The terminal shows an agent's command only by this; a user's own command is there as typed. */
function withCommand(frame: Frame): Frame {
  const { command, hidden } = frame.extras as Frame;
  if (frame.source === 'user' || hidden) return frame;
  return { ...frame, content: behindCommand(String(command), String(frame.content)) };
}

/** A client that reconnects becomes active by the same state, whatever the agent does. */
function statesFor(state: AgentState, phase: Phase): readonly AgentState[] {
  const states = OLD_STATES[state] ?? [state];
  return phase === 'replay' && !states.includes('init') ? ['init', ...states] : states;
}

function interpreterOf(metadata: Frame): string {
  return typeof metadata.py_interpreter_path === 'string' ? metadata.py_interpreter_path : '';
}
