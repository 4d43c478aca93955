import type { LinesToEdit } from '@tendon/protocol/executor-api';
import type { LlmAnswer, LlmRequest } from '../llm/llm-provider.ts';

export interface DraftSubject {
  readonly path: string;
  /** As the agent wrote it: parts left out, marked by comments. */
  readonly draft: string;
  readonly lines: Extract<LinesToEdit, { state: 'lines' }>;
}

const INSTRUCTIONS = `You merge a draft into a part of a file.
You are given lines of the file and a draft of what they shall become. The draft may leave out what stays, with comments such as
"# no changes before", "// ... existing code ..." or "# rest unchanged". Write these lines out as they shall be: all that the draft
changes, and, letter by letter, all that it leaves out. Keep indentation, comments and blank lines. Write nothing that is outside
the given lines, no line numbers and no explanations. Answer with one fenced code block that holds the lines and nothing else.
Should no line be left, answer with an empty block.`;

/** The request that has a model write a draft out. */
export function draftRequest({ path, draft, lines }: DraftSubject): LlmRequest {
  const fence = fenceFor(draft + lines.text);
  const text = `Lines ${lines.first} to ${lines.last} of ${path}:
${fence}
${withEnd(lines.text)}${fence}

The draft of what they shall become:
${fence}
${withEnd(draft)}${fence}`;
  return {
    messages: [
      { role: 'system', text: INSTRUCTIONS },
      { role: 'user', text },
    ],
    tools: [],
  };
}

/** The lines in an answer; nothing when it was cut off, calls tools or holds no block. Fences inside the block belong to it. */
export function linesOfAnswer({ text, finishReason, toolCalls }: LlmAnswer): string | undefined {
  if (finishReason !== 'stop' || toolCalls.length > 0) return undefined;
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const first = lines.findIndex((line) => FENCE.test(line));
  const last = lines.findLastIndex((line) => FENCE.test(line));
  if (first < 0 || last <= first) return undefined;
  return lines
    .slice(first + 1, last)
    .map((line) => `${line}\n`)
    .join('');
}

const FENCE = /^\s*`{3,}[\w+#.-]*\s*$/;

/** Longer than any in the text. */
function fenceFor(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  return '`'.repeat(Math.max(3, longest + 1));
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
