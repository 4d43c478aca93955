import { shellQuote } from '@tendon/protocol/executor-api';

/** A call of a tool of today that does what the recorded action did. */
export interface ReplayCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** It changes the sandbox. */
  readonly isRunnable: boolean;
}

type Args = Readonly<Record<string, unknown>>;
type ToCall = (args: Args, timeout: unknown) => ReplayCall | undefined;

const CALLS: Readonly<Record<string, ToCall>> = {
  run: (args, timeout) =>
    call('execute_bash', {
      command: text(args.command),
      ...(args.is_input === true && { is_input: 'true' }),
      ...(args.blocking === true && seconds(timeout)),
    }),
  run_ipython: (args, timeout) => call('execute_ipython_cell', { code: text(args.code), ...seconds(timeout) }),
  write: (args) => {
    const path = shellQuote(text(args.path));
    return call('execute_bash', {
      command: `mkdir -p -- "$(dirname -- ${path})" && printf %s ${shellQuote(text(args.content))} > ${path}`,
    });
  },
  read: (args) => call('str_replace_editor', { command: 'view', path: text(args.path), ...given(args, ['view_range']) }),
  edit: (args) => {
    const { command } = args;
    if (typeof command !== 'string' || command === '') return skipped('an edit by a drafting model');
    return call('str_replace_editor', { command, path: text(args.path), ...given(args, EDIT_ARGUMENTS) });
  },
  browse: (args) => call('web_read', { url: text(args.url) }),
  browse_interactive: (args) => call('browser', { code: text(args.browser_actions) }),
  // By the name it had: where no server of today offers it, the answer says so.
  call_tool_mcp: (args) => call(text(args.name), isObject(args.arguments) ? args.arguments : {}),
  think: (args) => ({ ...call('think', { thought: text(args.thought) }), isRunnable: false }),
  finish: (args) => ({ ...call('finish', { message: text(args.final_thought) || text(args.thought) }), isRunnable: false }),
  reject: (args) => ({ ...call('reject', { reason: reasonOf(args) }), isRunnable: false }),
  delegate: () => skipped('a delegation'),
};

/** What is about the conversation and not about the sandbox: this one makes its own. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  ...['recall', 'system', 'null', 'change_agent_state', 'summarize', 'condensation', 'condensation_request', 'loop_recovery'],
  'restore_checkpoint',
  ...['task_tracking', 'add_task', 'modify_task', 'initialize', 'start', 'pause', 'resume', 'stop'],
]);

/** Of a name that is quoted. */
const MAX_NAME = 50;
const EDIT_ARGUMENTS = ['file_text', 'old_str', 'new_str', 'insert_line'] as const;

/** `undefined` for what did nothing. */
export function replayCall(action: string, args: Args, timeout: unknown): ReplayCall | undefined {
  if (PASSED_OVER.has(action)) return undefined;
  return Object.hasOwn(CALLS, action) ? CALLS[action]!(args, timeout) : skipped(`an action "${action.slice(0, MAX_NAME)}"`);
}

function call(name: ReplayCall['name'], args: Args): ReplayCall {
  return { name, arguments: args, isRunnable: true };
}

/** What cannot be done again is not passed over in silence. */
function skipped(what: string): ReplayCall {
  return { name: 'think', arguments: { thought: `The recording has ${what} here, which cannot be done again.` }, isRunnable: false };
}

function reasonOf({ outputs, thought }: Args): string {
  return (isObject(outputs) && text(outputs.reason)) || text(thought);
}

function seconds(timeout: unknown): Args {
  return typeof timeout === 'number' && timeout > 0 ? { timeout } : {};
}

function given(args: Args, names: readonly string[]): Args {
  return Object.fromEntries(names.flatMap((name) => (args[name] === undefined || args[name] === null ? [] : [[name, args[name]]])));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is Args {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
