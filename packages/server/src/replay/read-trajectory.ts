import { MessageAction, type ParsedAction } from '@tendon/protocol';
import { replayCall, type ReplayCall } from './replay-call.ts';

/** An answer that stands for one recorded action; without a call it is the last word. */
export interface ReplayAnswer {
  readonly text: string;
  readonly call?: ReplayCall;
}

export interface Trajectory {
  /** The user's first message. */
  readonly task: ParsedAction<'message'>;
  readonly answers: readonly ReplayAnswer[];
}

export type TrajectoryResult = { readonly ok: true; readonly trajectory: Trajectory } | { readonly ok: false; readonly problem: string };

type Json = Readonly<Record<string, unknown>>;

const MAX_EVENTS = 20_000;
const MAX_ANSWERS = 5_000;

/**
 * A recorded trajectory as what is to be done again: the actions of the agent, and commands and edits of the user, in their order.
 * Observations are left out, they are made anew; so are later messages of the user. `replay_json` is the array, or what
 * `GET …/trajectory` answers, or the JSON text of either.
 */
export function readTrajectory(replay_json: unknown): TrajectoryResult {
  const given = typeof replay_json === 'string' ? parsed(replay_json) : replay_json;
  const events = isObject(given) ? given.trajectory : given;
  if (!Array.isArray(events)) return wrong('it is not a JSON array of events');
  if (events.length === 0) return wrong('it has no events');
  if (events.length > MAX_EVENTS) return wrong(`it has more than ${MAX_EVENTS} events`);
  const index = events.findIndex((event) => !isObject(event));
  if (index >= 0) return wrong(`event ${index} is not an object`);
  const recorded = (events as Json[]).filter((event) => !PREAMBLE.has(String(event.action ?? event.observation)));
  const task = recorded[0] && taskOf(recorded[0]);
  if (!task) return wrong('its first event must be a message of the user');
  const answers = answersOf(recorded.slice(1));
  return answers.length > MAX_ANSWERS ? wrong(`it has more than ${MAX_ANSWERS} actions`) : { ok: true, trajectory: { task, answers } };
}

/** What a conversation says before anybody has spoken. */
const PREAMBLE: ReadonlySet<string> = new Set(['agent_state_changed', 'system', 'change_agent_state', 'null']);

function taskOf({ action, source, args }: Json): ParsedAction<'message'> | undefined {
  if (action !== 'message' || String(source).toLowerCase() !== 'user' || !isObject(args)) return undefined;
  const { content, image_urls } = args;
  if (typeof content !== 'string' || content.trim() === '') return undefined;
  const images = Array.isArray(image_urls) ? image_urls.filter((url) => typeof url === 'string') : [];
  return MessageAction.create({ content, image_urls: images.length > 0 ? images : null });
}

/** A message alone goes with what was done next: an answer in words would end the turn. */
function answersOf(events: readonly Json[]): ReplayAnswer[] {
  const actions = events.filter((event) => typeof event.action === 'string' && String(event.source).toLowerCase() !== 'environment');
  const lastOwn = actions.findLastIndex(({ source }) => String(source).toLowerCase() !== 'user');
  const answers: ReplayAnswer[] = [];
  let spoken = '';
  for (const [index, { action, source, args, timeout }] of actions.entries()) {
    const given = isObject(args) ? args : {};
    const isUsers = String(source).toLowerCase() === 'user';
    if (action === 'message') {
      if (!isUsers && typeof given.content === 'string') spoken = [spoken, given.content].filter(Boolean).join('\n');
      continue;
    }
    if (given.confirmation_state === 'rejected' || given.is_confirmed === 'rejected') continue;
    if (given.confirmation_state === 'awaiting_confirmation' || given.is_confirmed === 'awaiting_confirmation') {
      // It never ran: what a person agreed to comes again, without its thought.
      if (typeof given.thought === 'string') spoken = [spoken, given.thought].filter(Boolean).join('\n');
      continue;
    }
    // Only the last end is one: what came after the others is done again too.
    if ((action === 'finish' || action === 'reject') && index !== lastOwn) continue;
    const call = replayCall(action as string, given, timeout);
    if (!call || (isUsers && !call.isRunnable)) continue;
    const thought = typeof given.thought === 'string' && action !== 'think' ? given.thought : '';
    answers.push({ text: [spoken, thought].filter(Boolean).join('\n'), call });
    spoken = '';
  }
  return spoken === '' ? answers : [...answers, { text: spoken }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(problem: string): TrajectoryResult {
  return { ok: false, problem };
}
