import { messageOf } from '../codec.ts';
import { isAction, isUnknown, type Action, type Event, type EventSource, type Observation } from '../event.ts';
import { finishArgs, knowledgeTwins, runExtras, successOf } from './additive-twins.ts';
import { cutMiddle } from '../cut-middle.ts';
import { decodeFrame } from './decode-frame.ts';
import type { Dialect, Frame, Phase } from './dialect.ts';
import { unknownFrame, wireFrame } from './wire-frame.ts';

/**
 * Socket.IO clients of OpenHands 0.15 … 0.62; the canonical spelling is that of 0.62, and older frontends read it with the additive twins.
 * Limit: frontends before 0.25 do not know the state `rate_limited`, and those of 0.15–0.17 wait for `init`; `openhandsV0InBand` has both.
 */
export const openhandsV0: Dialect = {
  name: 'openhands-v0',
  greeting: [],
  encode(event, phase) {
    if (isUnknown(event)) return [unknownFrame(event)];
    if (!isShown(event, phase)) return [];
    return [isAction(event) ? encodeAction(event, phase) : encodeObservation(event, phase)];
  },
  encodeVolatile(frame) {
    if (frame.volatile !== 'status') return [];
    const { volatile: _volatile, type, ...rest } = frame;
    return [{ status_update: true, type, ...rest }];
  },
  /** As a status: an `{error: true}` frame is shown by no frontend of this generation, and breaks the chat of two. */
  encodeError: (error) => ({
    status_update: true,
    type: 'error',
    id: error.messageId,
    message: error.message,
    code: error.code,
  }),
  decode: decodeFrame,
};

/** Live, the environment's bookkeeping is hidden; in the replay, the recall action. `null` is never shown. */
function isShown(event: Action | Observation, phase: Phase): boolean {
  if (!isAction(event)) return event.observation !== 'null';
  if (event.action === 'null') return false;
  if (phase === 'replay') return event.action !== 'recall';
  return !(event.source === 'environment' && event.action === 'change_agent_state');
}

function encodeAction(event: Action, phase: Phase): Frame {
  const source = sourceOf(event, phase);
  if (event.action === 'finish') return wireFrame(event, { source, message: lastWords(event), args: finishArgs(event) });
  if (event.action !== 'start') return wireFrame(event, { source });
  const { task, ...rest } = event.args;
  const args = { content: task, file_urls: null, image_urls: null, wait_for_response: false, security_risk: -1 as const, ...rest };
  return wireFrame({ ...event, action: 'message', args }, { source });
}

/** Frontends before 0.28 show a finish by its message alone. */
function lastWords(event: Action<'finish'>): string {
  return event.args.thought || event.args.final_thought || messageOf(event);
}

function encodeObservation(event: Observation, phase: Phase): Frame {
  const overrides = { source: sourceOf(event, phase), success: successOf(event) };
  switch (event.observation) {
    case 'run':
      return wireFrame(event, {
        ...overrides,
        content: event.extras.hidden ? event.content : cutMiddle(event.content, { mark: 'beside' }),
        extras: runExtras(event),
      });
    case 'edit':
      return wireFrame(event, { ...overrides, extras: { ...event.extras, _diff_cache: null } });
    case 'browse': {
      const { html: _large, ...extras } = event.extras; // nothing of this generation reads it
      return wireFrame(event, { ...overrides, extras });
    }
    case 'recall':
      return wireFrame(event, { ...overrides, extras: { ...event.extras, microagent_knowledge: knowledgeTwins(event) } });
    default:
      return wireFrame(event, overrides);
  }
}

/** Live frames name only `agent` and `user`; the replay keeps what is stored. */
function sourceOf(event: Event, phase: Phase): EventSource {
  return phase === 'live' && event.source === 'environment' ? 'agent' : event.source;
}
