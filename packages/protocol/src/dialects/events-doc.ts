import { messageOf } from '../codec.ts';
import { isAction, isUnknown, type Action, type Observation, type ActionKind, type ObservationKind } from '../event.ts';
import { MessageAction } from '../events/message.ts';
import { knowledgeTwins, runExtras, successOf } from './additive-twins.ts';
import { decodeFrame } from './decode-frame.ts';
import type { Dialect, Frame } from './dialect.ts';
import { unknownFrame, wireFrame } from './wire-frame.ts';

/**
 * The letter of `openhands-events.md`, for clients whose types were made from it: every event, live and replayed, with its stored source;
 * states in upper case, its names for recalls, strings where it shows strings, whole seconds in timestamps (its example has no fraction,
 * and the decoders of the language it was written for refuse one).
 * A kind that the document does not have comes as the nearest one that it has, its own arguments beside, its name under `kind`.
 */
export const eventsDoc: Dialect = {
  name: 'events-doc',
  replay: { hasStates: true, namesConversation: true },
  greeting: [],
  encode(event) {
    if (isUnknown(event)) return [unknownFrame(event)];
    if (!isAction(event)) return [encodeObservation(event)];
    return event.action === 'system' ? [encodePrompt(event), initialized(event)] : [encodeAction(event)];
  },
  encodeVolatile: () => [],
  encodeError: (error, timestamp) => ({
    timestamp: wholeSeconds(timestamp),
    source: 'environment',
    message: error.message,
    observation: 'error',
    content: error.message,
    extras: { error_id: error.messageId, code: error.code },
  }),
  decode(frame) {
    const decoded = decodeFrame(frame);
    // The document has the action too: who sends one sees it come back, as any other.
    return decoded.type === 'answer' && isNull(frame) ? { type: 'answer', frames: nullFrames } : decoded;
  },
};

function nullFrames(timestamp: string): readonly Frame[] {
  const meta = { timestamp: wholeSeconds(timestamp), message: '' };
  return [
    { ...meta, source: 'user', action: 'null', args: {} },
    { ...meta, source: 'environment', observation: 'null', content: '', extras: {} },
  ];
}

function isNull(frame: unknown): boolean {
  return typeof frame === 'object' && frame !== null && 'action' in frame && frame.action === 'null';
}

/** Its state INIT is the moment at which the agent introduced itself; inside that is no event of its own, so the frame has no id. */
function initialized({ timestamp }: Action<'system'>): Frame {
  const extras = { agent_state: 'INIT', reason: '' };
  const meta = { timestamp: wholeSeconds(timestamp), source: 'environment', message: '' };
  return { ...meta, observation: 'agent_state_changed', content: '', extras };
}

/** The prompt is not a message of the agent to the user: it is sent as the action that does nothing, with its content in `args`. */
function encodePrompt(event: Action<'system'>): Frame {
  return { ...encodeAction(event), message: '' };
}

function encodeAction(event: Action): Frame {
  const frame = wireFrame(event, { timestamp: wholeSeconds(event.timestamp), args: actionArgs(event) });
  const documented = DOCUMENTED_ACTIONS[event.action];
  if (documented === event.action) return frame;
  const text = messageOf(event);
  const shown = shownAs(documented, event, text);
  return { ...frame, action: documented, args: { ...event.args, ...shown, kind: event.action } };
}

function shownAs(documented: string, event: Action, text: string): Frame {
  if (documented === 'null') return {};
  if (documented === 'message') return MessageAction.create({ content: text }).args;
  return documented === 'summarize' && event.action === 'condensation' ? { summary: event.args.summary ?? text } : { thought: text };
}

function actionArgs(event: Action): Frame {
  switch (event.action) {
    case 'change_agent_state':
      return { ...event.args, agent_state: event.args.agent_state.toUpperCase() };
    case 'recall':
      return { ...event.args, recall_type: documentedRecall(event.args.recall_type) };
    case 'finish':
      return { ...event.args, task_completed: event.args.task_completed ?? 'true' };
    case 'edit':
      // An edit that a model drafts has no command, and the documented enumeration has no empty one: such an edit amounts to a `write`.
      return { ...event.args, command: event.args.command || 'write' };
    default:
      return event.args;
  }
}

function encodeObservation(event: Observation): Frame {
  const frame = wireFrame(event, {
    timestamp: wholeSeconds(event.timestamp),
    extras: observationExtras(event),
    success: successOf(event),
  });
  const documented = DOCUMENTED_OBSERVATIONS[event.observation];
  return documented === event.observation
    ? frame
    : { ...frame, observation: documented, extras: { ...event.extras, kind: event.observation } };
}

function observationExtras(event: Observation): Frame {
  switch (event.observation) {
    case 'run':
      return { ...runExtras(event), metadata: withoutNulls(event.extras.metadata) };
    case 'agent_state_changed':
      return { ...event.extras, agent_state: event.extras.agent_state.toUpperCase() };
    case 'edit':
      // `prev_exist` says whether the file existed before.
      return { ...event.extras, old_content: event.extras.old_content ?? '', new_content: event.extras.new_content ?? '' };
    case 'recall':
      return {
        ...event.extras,
        recall_type: documentedRecall(event.extras.recall_type),
        microagent_knowledge: knowledgeTwins(event),
      };
    default:
      return event.extras;
  }
}

/** The document shows strings for everything that may be unknown here. */
function withoutNulls(metadata: Frame): Frame {
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, value ?? '']));
}

const RECALL_NAMES: Readonly<Record<string, string>> = { workspace_context: 'environment_info', knowledge: 'knowledge_microagent' };

function documentedRecall(type: string): string {
  return RECALL_NAMES[type] ?? type;
}

function wholeSeconds(timestamp: unknown): string {
  return typeof timestamp === 'string' ? timestamp.replace(/\.\d+(?=Z|[+-]|$)/, '') : '';
}

/** The kind of `openhands-events.md` that shows each of ours: itself for its sixteen, the nearest one for the rest. */
const DOCUMENTED_ACTIONS = {
  null: 'null',
  run: 'run',
  run_ipython: 'run_ipython',
  browse: 'browse',
  browse_interactive: 'browse_interactive',
  read: 'read',
  write: 'write',
  edit: 'edit',
  message: 'message',
  think: 'think',
  delegate: 'delegate',
  finish: 'finish',
  reject: 'reject',
  summarize: 'summarize',
  recall: 'recall',
  change_agent_state: 'change_agent_state',
  start: 'message',
  initialize: 'think',
  pause: 'think',
  resume: 'think',
  stop: 'think',
  push: 'think',
  send_pr: 'think',
  call_tool_mcp: 'think',
  kill: 'think',
  system: 'null',
  condensation: 'summarize',
  condensation_request: 'think',
  task_tracking: 'think',
  loop_recovery: 'think',
  restore_checkpoint: 'think',
  add_task: 'think',
  modify_task: 'think',
} as const satisfies Record<ActionKind, ActionKind>;

/** The same for its fifteen observations. */
const DOCUMENTED_OBSERVATIONS = {
  null: 'null',
  run: 'run',
  run_ipython: 'run_ipython',
  browse: 'browse',
  read: 'read',
  write: 'write',
  edit: 'edit',
  error: 'error',
  success: 'success',
  user_rejected: 'user_rejected',
  agent_state_changed: 'agent_state_changed',
  delegate: 'delegate',
  think: 'think',
  condense: 'condense',
  recall: 'recall',
  download: 'success',
  chat: 'success',
  message: 'success',
  task_tracking: 'success',
  loop_detection: 'think',
  mcp: 'success',
  restore_checkpoint: 'success',
} as const satisfies Record<ObservationKind, ObservationKind>;
