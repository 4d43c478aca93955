import { shellQuoted } from '../files/sandbox-command.ts';

/** A call of a tool of today that does what the recorded action did. */
export interface ReplayCall {
  readonly name: 'execute_bash' | 'str_replace_editor' | 'think' | 'finish';
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
      ...(typeof timeout === 'number' && timeout > 0 && args.blocking === true && { timeout }),
    }),
  write: (args) => {
    const path = shellQuoted(text(args.path));
    return call('execute_bash', {
      command: `mkdir -p -- "$(dirname -- ${path})" && printf %s ${shellQuoted(text(args.content))} > ${path}`,
    });
  },
  read: (args) => call('str_replace_editor', { command: 'view', path: text(args.path), ...given(args, ['view_range']) }),
  edit: (args) => {
    const { command } = args;
    if (typeof command !== 'string' || command === '') return skipped('an edit by a drafting model');
    return call('str_replace_editor', { command, path: text(args.path), ...given(args, EDIT_ARGUMENTS) });
  },
  think: (args) => ({ ...call('think', { thought: text(args.thought) }), isRunnable: false }),
  finish: (args) => ({ ...call('finish', { message: text(args.final_thought) || text(args.thought) }), isRunnable: false }),
  run_ipython: () => skipped('a Jupyter cell'),
  browse: () => skipped('a visit to a web page'),
  browse_interactive: () => skipped('a use of the browser'),
  call_tool_mcp: () => skipped('a call of an MCP tool'),
  delegate: () => skipped('a delegation'),
};

const EDIT_ARGUMENTS = ['file_text', 'old_str', 'new_str', 'insert_line'] as const;

/** `undefined` for what did nothing. */
export function replayCall(action: string, args: Args, timeout: unknown): ReplayCall | undefined {
  return Object.hasOwn(CALLS, action) ? CALLS[action]!(args, timeout) : undefined;
}

function call(name: ReplayCall['name'], args: Args): ReplayCall {
  return { name, arguments: args, isRunnable: true };
}

/** What can not be done again is not passed over in silence. */
function skipped(what: string): ReplayCall {
  return { name: 'think', arguments: { thought: `The recording has ${what} here, which this version can not replay.` }, isRunnable: false };
}

function given(args: Args, names: readonly string[]): Args {
  return Object.fromEntries(names.flatMap((name) => (args[name] === undefined || args[name] === null ? [] : [[name, args[name]]])));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
