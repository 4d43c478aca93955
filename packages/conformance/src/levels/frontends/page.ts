import assert from 'node:assert/strict';
import type { Answer, RequestOptions, ServerJson, Peer, Target } from '../../target/target.ts';
import { argsOf, extrasOf, type Frame } from '../../target/frames.ts';

/** A development server on another port of this machine. */
export const ORIGIN = 'http://localhost:3001';
/** How the pages' HTTP client asks. */
const HEADERS = { accept: 'application/json, text/plain, */*', origin: ORIGIN };

/** A page that is open: asks as its scripts do, and breaks when an answer is none. */
export interface Page {
  /** The body of a 200 (or 201); rejects with the call that broke. */
  ask(method: string, path: string, options?: RequestOptions): Promise<ServerJson>;
  /** The same, with any status. */
  try(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

export function openPage(target: Target, more: Readonly<Record<string, string>> = {}): Page {
  const asking = async (method: string, path: string, { headers, ...options }: RequestOptions = {}): Promise<Answer> => {
    const answer = await target.ask(method, path, { ...options, headers: { ...HEADERS, ...more, ...headers } });
    assert.ok(!answer.text.startsWith('<'), `${method} ${path} is answered with a page`);
    return answer;
  };
  return {
    try: asking,
    async ask(method, path, options) {
      const answer = await asking(method, path, options);
      assert.ok([200, 201].includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      return answer.body;
    },
  };
}

/** Every frame so far, taken apart; the failure names the frame. */
export function readAll({ frames }: Peer, read: FrameReader): void {
  for (const frame of frames.all) {
    try {
      read(frame);
    } catch (cause) {
      throw new Error(`${(cause as Error).message}, in ${JSON.stringify(frame).slice(0, 400)}`, { cause });
    }
  }
}

export function listOf(value: unknown, what: string): readonly ServerJson[] {
  assert.ok(Array.isArray(value), `${what} is no list: ${JSON.stringify(value)?.slice(0, 200)}`);
  return value as readonly ServerJson[];
}

/** A form with one file, as the pages send it. */
export function upload(name: string, text: string): FormData {
  const form = new FormData();
  form.append('files', new Blob([text]), name);
  return form;
}

/**
 * Takes a frame apart as a page does, without looking whether a thing is there: throws where the page would break or show nonsense.
 * Which keys these are was read in the pages' own reducers; what a page looks for before it reads is not among them.
 */

export type FrameReader = (frame: Frame) => void;

const STATES_0_6 = ['loading', 'init', 'running', 'awaiting_user_input', 'paused', 'stopped', 'finished', 'error'];
const STATES_0_9 = [...STATES_0_6, 'rejected', 'awaiting_user_confirmation', 'user_confirmed', 'user_rejected'];
const STATES_0_25 = [...STATES_0_9, 'rate_limited'];

/** 0.3 shows the message of every frame that it has no better place for. */
export const readAs03: FrameReader = (frame) => {
  if (frame.action === 'think') return isText(argsOf(frame).thought, 'args.thought');
  if (frame.action === 'run') return isText(argsOf(frame).command, 'args.command');
  if (frame.action === 'write') return areTexts(argsOf(frame), 'path', 'content');
  if (frame.action === 'browse') return isText(argsOf(frame).url, 'args.url');
  if (frame.observation === 'run') return isText(frame.content, 'content');
  if (frame.action === undefined || frame.action === 'finish') isText(frame.message, 'message');
};

/** 0.6: states in a table, commands in a terminal, everything else by its message. */
export const readAs06: FrameReader = readWith(STATES_0_6);

/** 0.9, and 0.15 over Socket.IO. */
export const readAs09: FrameReader = readWith(STATES_0_9);

function readWith(states: readonly string[]): FrameReader {
  return (frame) => {
    if (typeof frame.token === 'string' || frame.status_update === true || typeof frame.status === 'string') return;
    if (frame.observation === 'agent_state_changed') return isOneOf(states, extrasOf(frame).agent_state);
    if (frame.action === 'initialize') return;
    if (frame.action !== undefined) assert.equal(typeof frame.args, 'object', 'there is no args');
    if (frame.action === 'message') return isText(argsOf(frame).content, 'args.content');
    if (frame.action === 'write') return areTexts(argsOf(frame), 'path', 'content');
    if (frame.action === 'run_ipython') return isText(argsOf(frame).code, 'args.code');
    if (frame.observation === 'run' || frame.observation === 'run_ipython') return isText(frame.content, 'content');
    isText(frame.message, 'message');
  };
}

/** 0.25: a reducer of cards, in which an observation is put to its action. */
export const readAs025: FrameReader = (frame) => {
  if (frame.status_update === true) return isText(frame.message, 'message');
  hasMeta(frame);
  if (frame.action !== undefined) readAction(frame);
  else readObservation(frame);
};

/** 0.40 to 0.62: as 0.25, and every observation is searched for errors. */
export const readAs062: FrameReader = (frame) => {
  readAs025(frame);
  const args = argsOf(frame);
  if (frame.action === 'finish') isText(args.final_thought, 'args.final_thought');
  if (frame.action === 'edit') isText(args.path, 'args.path');
  if (frame.observation === undefined) return;
  isText(frame.content, 'content');
  const { observation, extras } = { observation: frame.observation, extras: extrasOf(frame) };
  const isGood = frame.content !== '' && !/error:/i.test(String(frame.content));
  if (observation === 'edit' && isGood) isText(extras.diff, 'extras.diff');
  if (observation === 'error') assert.ok('error_id' in extras, 'there is no extras.error_id');
};

function readAction(frame: Frame): void {
  const args = argsOf(frame);
  assert.equal(typeof frame.args, 'object', 'there is no args');
  if (frame.action === 'message' || frame.action === 'system') isText(args.content, 'args.content');
  if (frame.action === 'run') areTexts(args, 'command');
  if (frame.action === 'run_ipython') areTexts(args, 'code');
  if (frame.action === 'write') areTexts(args, 'path', 'content');
  if (frame.action === 'browse') areTexts(args, 'url');
  if (frame.action === 'system') assert.ok(Array.isArray(args.tools ?? []), 'args.tools is no list');
  const { accumulated_token_usage: usage, accumulated_cost: cost } = (frame.llm_metrics ?? NO_METRICS) as typeof NO_METRICS;
  for (const count of [cost, usage.prompt_tokens, usage.completion_tokens, usage.cache_read_tokens, usage.context_window]) {
    assert.equal(typeof count, 'number', `llm_metrics: ${JSON.stringify(frame.llm_metrics)}`);
  }
}

const NO_METRICS = {
  accumulated_cost: 0,
  accumulated_token_usage: { prompt_tokens: 0, completion_tokens: 0, cache_read_tokens: 0, context_window: 0 },
};

function readObservation(frame: Frame): void {
  const extras = extrasOf(frame);
  assert.equal(typeof frame.extras, 'object', 'there is no extras');
  if (frame.observation === 'agent_state_changed') return isOneOf(STATES_0_25, extras.agent_state);
  isText(frame.content, 'content');
  if (frame.observation === 'run') {
    isText(extras.command, 'extras.command');
    assert.equal(typeof (extras.metadata as Frame | undefined)?.exit_code, 'number', 'extras.metadata.exit_code is no number');
  }
  if (frame.observation === 'recall') assert.ok(Array.isArray(extras.microagent_knowledge), 'extras.microagent_knowledge is no list');
}

/** Without one of these four a frame is no event to a page. */
function hasMeta(frame: Frame): void {
  for (const key of ['id', 'source', 'message', 'timestamp'])
    assert.ok(key in frame, `there is no ${key}: ${JSON.stringify(frame).slice(0, 200)}`);
  assert.ok(!Number.isNaN(Date.parse(String(frame.timestamp))), `${String(frame.timestamp)} is no time`);
}

function areTexts(of: Frame, ...keys: readonly string[]): void {
  for (const key of keys) isText(of[key], key);
}

function isText(value: unknown, what: string): void {
  assert.equal(typeof value, 'string', `${what} is no text but ${JSON.stringify(value)}`);
}

function isOneOf(states: readonly string[], state: unknown): void {
  assert.ok(states.includes(String(state)), `the state ${String(state)} is not in the page's table`);
}
