import { messageOf } from '../../codec.ts';
import { isAction, type Action, type EventSource, type Observation } from '../../event.ts';
import type { Frame } from '../dialect.ts';

/** What a frame of this generation may say differently from the event that it shows. */
interface ShownText {
  readonly message?: string;
  readonly content?: string;
}

/** An event as 0.6 to 0.14 wrote it: id, time, source, message, and the cause of an observation. */
export function shownAction(event: Action | Observation, kind: string, args: Frame, text: ShownText = {}): Frame {
  const timeout = isAction(event) ? event.timeout : undefined;
  return { ...meta(event, text), action: kind, args, ...(timeout !== undefined && { timeout }) };
}

export function shownObservation(event: Observation, kind: string, extras: Frame, text: ShownText = {}): Frame {
  return { ...meta(event, text), observation: kind, content: text.content ?? event.content, extras };
}

/** What the agent says. Nothing when there is nothing to say. */
export function saying(event: Action, content: string): readonly Frame[] {
  return content === ''
    ? []
    : [shownAction(event, 'message', { content, images_urls: null, wait_for_response: false }, { message: content })];
}

/** A result whose kind did not exist yet: its `message` is shown in the chat. */
export function succeeded(event: Observation): readonly Frame[] {
  return event.content === '' ? [] : [shownObservation(event, 'success', {}, { message: event.content })];
}

function meta(event: Action | Observation, text: ShownText): Frame {
  return {
    id: event.id,
    timestamp: event.timestamp,
    source: sourceOf(event.source),
    message: text.message ?? messageOf(event),
    ...(event.cause !== undefined && { cause: event.cause }),
  };
}

/** There were two sources only. */
function sourceOf(source: EventSource): EventSource {
  return source === 'user' ? 'user' : 'agent';
}
