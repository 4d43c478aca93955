import type { LlmRequest } from '../llm-provider.ts';

/** What the demonstration sees: what the user asked last, and what came back since. */
export interface DemoTurn {
  readonly task: string;
  readonly results: readonly ToolResult[];
}

export interface ToolResult {
  /** Without the lines that the engine adds below a command's output. */
  readonly text: string;
  readonly exitCode: number | undefined;
  /** The tool says that it did not do what was asked. */
  readonly failed: boolean;
}

/** Lines that the engine itself puts in among the user's: context, notices, late results. */
const ENGINE_WORDS = /^(\[(Context|Notice|Summary|Late result|Image|Nothing yet|The user |The conversation )|Go on\.$)/;

/** Only results that answer a call made after the last message from the user count: others belong to an earlier request. */
export function readRequest({ messages }: LlmRequest): DemoTurn {
  const start = messages.findLastIndex(({ role, text }) => role === 'user' && !ENGINE_WORDS.test(text));
  const task = start < 0 ? '' : (messages[start]?.text.trim() ?? '');
  const since = messages.slice(start + 1);
  const calls = new Set(since.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).map(({ id }) => id));
  const results = since.filter((message) => message.role === 'tool').filter(({ toolCallId }) => calls.has(toolCallId));
  return { task, results: results.map(({ text, toolName }) => readResult(text, toolName === 'execute_bash')) };
}

const TRAILER = /\n?\[([^\n]*)\]\s*$/;
const EXIT_CODE = /exit code:? (-?\d+)/i;
/** How tools and the engine begin when they could not do it. */
const FAILURE =
  /^\s*(error|invalid|no such|interrupted|rejected|unknown tool|the user rejected|the sandbox)|outcome (of this call )?is (not known|unknown)/i;

/** A command that came back without an exit code is still running, was refused, or is lost: in no case done. */
function readResult(text: string, isCommand: boolean): ToolResult {
  if (!isCommand) return { text, exitCode: undefined, failed: FAILURE.test(text) };
  let body = text;
  let exitCode: number | undefined;
  for (let trailer = TRAILER.exec(body); trailer; trailer = TRAILER.exec(body)) {
    const words = trailer[1] ?? '';
    const code = EXIT_CODE.exec(words)?.[1];
    if (code === undefined && !/^(current working directory|python interpreter):/i.test(words)) break;
    if (code !== undefined) exitCode ??= Number(code);
    body = body.slice(0, trailer.index);
  }
  return { text: body, exitCode, failed: exitCode !== 0 };
}
