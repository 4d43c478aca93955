import { loggedEvents, type EventLog } from '@tendon/core';
import { isAction, isUnknown, wireFrame, type Event, type Frame } from '@tendon/protocol';
import { AnswerReader } from './answer-reader.ts';
import { storedFrame } from './event-search.ts';

/** Of browsers, and too large to export. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'dom_object',
  'axtree_object',
  'active_page_index',
  'last_browser_action',
  'last_browser_action_error',
  'focused_element_bid',
  'extra_element_properties',
  'screenshot',
  'set_of_marks',
]);

/** Pages of the log as pieces of one JSON document: memory does not grow with the history. */
export async function* trajectoryText(log: EventLog): AsyncGenerator<string> {
  let separator = '{"trajectory":[';
  for await (const text of exported(log)) {
    yield separator + text;
    separator = ',';
  }
  yield separator === ',' ? ']}' : `${separator}]}`;
}

/** One event a line. */
export async function* trajectoryLines(log: EventLog): AsyncGenerator<string> {
  for await (const text of exported(log)) yield `${text}\n`;
}

async function* exported(log: EventLog): AsyncGenerator<string> {
  const answers = new AnswerReader(log);
  for await (const stored of loggedEvents(log, { to: log.nextId })) {
    // OpenHands takes the answer from the last action when it continues from a recording.
    const event = await answers.fill(stored, isAction(stored) ? 'whole' : 'own-call');
    for (const frame of exportedFrame(event)) if (!isHidden(frame)) yield JSON.stringify(frame, leaveOut);
  }
}

/** Answers that say nothing are not shown, but without them an action would look as if it had none. */
function exportedFrame(event: Event): readonly Frame[] {
  const shown = storedFrame(event);
  return shown.length > 0 || isUnknown(event) ? shown : [wireFrame(event)];
}

/** At any depth of `extras`; a key of that name in other places is somebody's argument. */
function leaveOut(this: unknown, key: string, value: unknown): unknown {
  return key === 'extras' && typeof value === 'object' && value !== null ? without(value, 0) : value;
}

const MAX_DEPTH = 64;

function without(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => without(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (LEFT_OUT.has(key) ? [] : [[key, without(item, depth + 1)] as const])),
  );
}

function isHidden({ args, extras }: Frame): boolean {
  return [args, extras].some((part) => (part as { hidden?: unknown } | undefined)?.hidden === true);
}
