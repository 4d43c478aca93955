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

/** A name in the pattern of a plain sentence: quoted, or one word. */
export const NAME = String.raw`(?:"[^"\n]+"|'[^'\n]+'|\`[^\`\n]+\`|[^\s"'\`]+)`;

const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’', '«': '»' };

/** The text inside matching quotes; without quotes the text less the sentence's own full stop. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const bare = trimmed.replace(/\.$/, '');
  for (const candidate of [trimmed, bare]) {
    const close = QUOTES[candidate[0] ?? ''];
    if (close && candidate.length > 1 && candidate.endsWith(close) && !candidate.slice(1, -1).includes(close))
      return candidate.slice(1, -1);
  }
  return bare;
}

export const WORKSPACE = '/workspace';

/** The absolute path of a name in the workspace; undefined when it leads out of it or cannot be a file name. */
export function workspacePath(name: string): string | undefined {
  const plain = unquoted(name).replace(/[,;:!?]+$/, '');
  if (plain === '' || /[\p{Cc}]/u.test(plain)) return undefined;
  const parts: string[] = [];
  for (const part of (plain.startsWith('/') ? plain : `${WORKSPACE}/${plain}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const path = `/${parts.join('/')}`;
  return path === WORKSPACE || path.startsWith(`${WORKSPACE}/`) ? path : undefined;
}

/** A short file name made of a text: `hello world` → `hello-world`. */
export function slug(text: string, otherwise: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, 24).replace(/-+$/, '') || otherwise;
}
