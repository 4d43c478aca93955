import type { LlmMessage, LlmRequest } from '../llm-provider.ts';

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

/** Only results that answer a call made after the last message from the user count: others belong to an earlier request. */
export function readRequest({ messages }: LlmRequest): DemoTurn {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const task = start < 0 ? '' : (messages[start]?.text.trim() ?? '');
  const since = messages.slice(start + 1);
  const calls = new Set(since.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).map(({ id }) => id));
  const isResult = (message: LlmMessage) => message.role === 'tool' && calls.has(message.toolCallId);
  return { task, results: since.filter(isResult).map(({ text }) => readResult(text)) };
}

const TRAILER = /\n?\[[^\n]*\]\s*$/;
const EXIT_CODE = /exit code:?\s+(-?\d+)/i;

function readResult(text: string): ToolResult {
  let body = text;
  let exitCode: number | undefined;
  for (let trailer = TRAILER.exec(body); trailer; trailer = TRAILER.exec(body)) {
    const code = EXIT_CODE.exec(trailer[0])?.[1];
    if (code === undefined && !/working directory|python interpreter/i.test(trailer[0])) break;
    if (code !== undefined) exitCode ??= Number(code);
    body = body.slice(0, trailer.index);
  }
  const failed =
    exitCode === undefined ? /^\s*(error|invalid|rejected|the user rejected|.{0,40}outcome (is )?unknown)\b/i.test(body) : exitCode !== 0;
  return { text: body, exitCode, failed };
}
