import { parseAgentState } from '../agent-state.ts';
import { isActionKind, isClientKind } from '../codec.ts';
import { catalogError, type ErrorCode } from '../error-catalog.ts';
import { MAX_CLIENT_ID_CHARS, type ActionDraft, type ActionKind } from '../event.ts';
import { asParsed } from '../define.ts';
import { StartAction } from '../events/system.ts';
import { ACTIONS } from '../kinds.ts';
import { currentArgs } from './current-args.ts';
import type { Decoded, Frame } from './dialect.ts';

/** A longer timeout, in seconds, counts as none. */
const MAX_TIMEOUT_SECONDS = 86_400;

/** Names that old generations gave to kinds of today. */
const RENAMED: Readonly<Record<string, ActionKind>> = {
  user_message: 'message',
  chat: 'message',
  change_task_state: 'change_agent_state',
};

/**
 * What a client's frame asks for, whatever its generation: kinds, arguments and states are accepted in every spelling there ever was.
 * Total. Meta fields (`id`, `timestamp`, `source`, `cause`) are the server's to give and are ignored.
 */
export function decodeFrame(given: unknown): Decoded {
  const frame = isObject(given) ? asAction(given) : given;
  if (!isObject(frame)) return failure('INVALID_FRAME', 'it is not an object');
  if (isNestedDeeper(frame)) return failure('INVALID_FRAME', 'it is nested too deeply');
  if (frame.action === undefined && frame.observation !== undefined) return decodeObservation(frame);
  if (typeof frame.action !== 'string') return failure('INVALID_FRAME', '"action" is missing');
  const kind = Object.hasOwn(RENAMED, frame.action) ? RENAMED[frame.action] : frame.action;
  if (!isActionKind(kind)) return failure('UNKNOWN_ACTION', clip(frame.action));
  const args = frame.args ?? {};
  if (!isObject(args)) return failure('INVALID_ARGUMENTS', '"args" is not an object');
  if (kind === 'initialize') return decodeInitialize(frame, args);
  if (kind === 'null') return { type: 'answer', frames: () => [{ observation: 'null', content: '', extras: {}, message: '' }] };
  const client = clientIdOf(frame, args);
  if (client === undefined) return failure('INVALID_ARGUMENTS', `"client_id" is not a text of at most ${MAX_CLIENT_ID_CHARS} characters`);
  if (kind === 'start') return decodeStart(client.args, client.id);
  return decodeAction(kind, currentArgs(kind, client.args, frame), { timeout: frame.timeout, ...client.id });
}

/**
 * The client's own id for an action is beside the arguments, where OpenHands servers ignore it; they refuse unknown
 * arguments. Within the arguments it means the same here.
 */
function clientIdOf(
  frame: Frame,
  { client_id: within, ...args }: Frame,
): { readonly args: Frame; readonly id: { readonly client_id?: string } } | undefined {
  const given = frame.client_id ?? within ?? '';
  if (typeof given !== 'string' || given.length > MAX_CLIENT_ID_CHARS) return undefined;
  return { args, id: given === '' ? {} : { client_id: given } };
}

/** The guides to the socket have `{type: "message", message}`, and clients made from them exist; others leave out `args`. */
function asAction(frame: Frame): Frame {
  const { action = frame.observation === undefined ? frame.type : undefined, args, content, message } = frame;
  const text = content ?? message;
  if (action !== 'message' || args !== undefined || typeof text !== 'string') return frame;
  return { ...frame, action, args: { content: text, image_urls: frame.image_urls ?? null } };
}

function decodeAction(
  kind: ActionKind,
  args: Frame,
  { timeout, client_id }: { readonly timeout?: unknown; readonly client_id?: string },
): Decoded {
  if (kind === 'change_agent_state') {
    const state = parseAgentState(args.agent_state);
    if (state === undefined) return failure('UNKNOWN_STATE', clip(args.agent_state ?? ''));
    args = { ...args, agent_state: state };
  }
  if (timeout !== undefined && timeout !== null && !isTimeout(timeout)) {
    return failure('INVALID_ARGUMENTS', '"timeout" is not a positive number of seconds');
  }
  const parsed = ACTIONS[kind].args.safeParse(args);
  if (!parsed.success) return failure('INVALID_ARGUMENTS', issueOf(parsed.error));
  const beside = {
    ...(isTimeout(timeout) && timeout <= MAX_TIMEOUT_SECONDS && { timeout }),
    ...(client_id !== undefined && { client_id }),
  };
  const action = asParsed({ action: kind, args: parsed.data, ...beside } as ActionDraft);
  return isClientKind(action) ? { type: 'action', action } : failure('NOT_FOR_CLIENTS', kind);
}

function decodeStart(args: Frame, id: { readonly client_id?: string }): Decoded {
  if (typeof args.task !== 'string' || args.task.trim() === '') return failure('NO_TASK');
  return { type: 'start', action: { ...StartAction.create({ task: args.task }), ...id } };
}

/** The README's `chat` observation is a message from the user; no other observation comes from a client. */
function decodeObservation(frame: Frame): Decoded {
  if (frame.observation !== 'chat' || typeof frame.content !== 'string') {
    return failure('INVALID_FRAME', 'observations come from the server');
  }
  return decodeAction('message', { content: frame.content }, {});
}

function issueOf(error: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] }): string {
  const [issue] = error.issues;
  return issue ? clip(`args${issue.path.map((part) => `.${String(part)}`).join('')}: ${issue.message}`, 200) : 'args';
}

function failure(code: ErrorCode, detail = ''): Decoded {
  return { type: 'error', error: catalogError(code, detail) };
}

export function isObject(value: unknown): value is Frame {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function clip(value: unknown, max = 100): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
}

/** Top-level keys of the Socket.IO clients before 0.18; they travel on in `settings`. */
const IN_BAND = ['token', 'github_token', 'latest_event_id', 'selected_repository'] as const;

/**
 * `initialize`: `model`, `directory`, `agent_cls` of the READMEs, or the upper-case config names of 0.3 … 0.17.
 * Empty strings and the words for nothing that old frontends send mean "not given". `settings` keeps every other key under its own name.
 */
function decodeInitialize(frame: Frame, args: Frame): Decoded {
  const { model, directory, agent_cls, ...settings } = args;
  const given = Object.entries(settings).filter(([key, value]) => key !== '__proto__' && !isNothing(value));
  const inBand = IN_BAND.filter((key) => !isNothing(frame[key])).map((key) => [key, frame[key]] as const);
  return {
    type: 'initialize',
    ...named('model', model, args.LLM_MODEL),
    ...named('directory', directory, args.WORKSPACE_BASE),
    ...named('agent', agent_cls, args.AGENT),
    settings: Object.fromEntries([...given, ...inBand]),
  };
}

function named<K extends string>(key: K, ...candidates: readonly unknown[]): { readonly [P in K]?: string } {
  const value = candidates.find((candidate) => typeof candidate === 'string' && !isNothing(candidate));
  return (typeof value === 'string' ? { [key]: value } : {}) as { readonly [P in K]?: string };
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 'null' || value === 'None' || value === 'undefined';
}

/** Deeper than any client's frame, far from where writing JSON would exhaust the stack. */
const MAX_NESTING = 64;

/** Whether a value parsed from JSON is nested deeper than `max`. Level by level, so that its own depth costs no stack. */
function isNestedDeeper(value: unknown, max: number = MAX_NESTING): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === max) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
