import type { DemoTurn, ToolResult } from './read-request.ts';

/** One thing the demonstration does next. */
export type DemoMove =
  | {
      readonly type: 'call';
      readonly thought: string;
      readonly tool: 'execute_bash' | 'str_replace_editor';
      readonly args: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'finish'; readonly ok: boolean; readonly message: string }
  | { readonly type: 'say'; readonly text: string };

export interface DemoSkill {
  /** A request it understands, shown to people and tried by the tests. */
  readonly example: string;
  /** The next move for this turn; undefined when the request is not of its kind. */
  next(turn: DemoTurn): DemoMove | undefined;
}

export function bash(thought: string, command: string): DemoMove {
  return { type: 'call', thought, tool: 'execute_bash', args: { command } };
}

export function createFile(thought: string, path: string, text: string): DemoMove {
  return { type: 'call', thought, tool: 'str_replace_editor', args: { command: 'create', path, file_text: text } };
}

export function finished(message: string): DemoMove {
  return { type: 'finish', ok: true, message };
}

export function failed(what: string, result: ToolResult): DemoMove {
  const how = result.exitCode === undefined ? '' : ` (exit code ${result.exitCode})`;
  return { type: 'finish', ok: false, message: `${what}${how}:\n\n${fenced(result.text)}` };
}

/** One call, then a message made of its result. */
export function once(results: readonly ToolResult[], call: DemoMove, report: (result: ToolResult) => DemoMove): DemoMove {
  const [result] = results;
  if (!result) return call;
  return result.failed ? failed('That did not work', result) : report(result);
}

const MAX_SHOWN = 2_000;

/** Output as it can stand in a message: fenced with more backticks than it contains, cut at `MAX_SHOWN`. */
export function fenced(output: string): string {
  const text = output.trimEnd();
  if (text === '') return '(no output)';
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}\n… ${text.length - MAX_SHOWN} more characters` : text;
  return `${fence}\n${shown}\n${fence}`;
}
