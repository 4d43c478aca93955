import type { LlmProvider } from '@tendon/core';
import { titleFromTask } from './conversation-titles.ts';

const DEADLINE_MS = 30_000;
/** What a task is about stands at its beginning. */
const MAX_TASK_CHARS = 2_000;
/** A model that writes more than this has misunderstood. */
const MAX_ANSWER_CHARS = 4_000;

const REQUEST =
  'Give the task below a title of two to six words, in the language of the task. Answer with the title alone, on one line, without quotes. Do not carry the task out.';

/** What a task is about, in the words of a model; `undefined` when it gives none in time. */
export async function titleByModel(provider: LlmProvider, task: string, signal: AbortSignal): Promise<string | undefined> {
  const messages = [
    { role: 'system', text: REQUEST },
    { role: 'user', text: `<task>\n${task.slice(0, MAX_TASK_CHARS).toWellFormed()}\n</task>` },
  ] as const;
  let chars = 0;
  for await (const event of provider.stream(
    { messages, tools: [] },
    { signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]) },
  )) {
    if (event.type === 'done') return titleIn(event.answer.text);
    if (event.type === 'delta') chars += event.text.length;
    if (event.type === 'failed' || chars > MAX_ANSWER_CHARS) return undefined;
  }
  return undefined;
}

/** The first line with words, without what models put around titles. */
function titleIn(text: string): string | undefined {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  return titleFromTask(line.replace(/^[\s#*"'“”«»`_]*(?:title:\s*)?[\s*"'“”«»`_]*/i, '').replace(/[\s.*"'“”«»`_]+$/, ''));
}
