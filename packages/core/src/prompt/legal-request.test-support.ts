import type { LlmMessage } from '../llm/llm-provider.ts';
import { parseObject } from '../tools/parse-tool-call.ts';

/**
 * What is wrong with a request in the eyes of the strictest provider; empty when every provider takes it.
 * OpenAI: after an assistant message with calls come exactly its results. Anthropic besides: unique ids of a plain alphabet,
 * arguments that are objects, a user's (or tool's) message first and last, no empty text.
 */
export function legalityProblems(messages: readonly LlmMessage[]): readonly string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  if (messages[0]?.role !== 'system' || messages[0].text === '') problems.push('no system prompt first');
  if (messages.slice(1).some(({ role }) => role === 'system')) problems.push('a second system prompt');
  if (messages[1]?.role !== 'user') problems.push('the first message is not from the user');
  const last = messages.at(-1)?.role;
  if (last !== 'user' && last !== 'tool') problems.push('the last message is the assistant’s');
  let due: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (due.shift() !== message.toolCallId) problems.push(`${at}: a result that no call waits for`);
      if (message.text === '') problems.push(`${at}: an empty result`);
      continue;
    }
    if (due.length > 0) problems.push(`${at}: ${due.length} calls without a result`);
    due = [];
    if (message.role === 'user' && message.text === '') problems.push(`${at}: an empty message`);
    if (message.role !== 'assistant') continue;
    if (message.text === '' && !message.toolCalls?.length) problems.push(`${at}: an empty answer`);
    for (const call of message.toolCalls ?? []) {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.id)) problems.push(`${at}: illegal id ${call.id}`);
      if (seen.has(call.id)) problems.push(`${at}: id ${call.id} is not unique`);
      if (!call.name) problems.push(`${at}: a call without a name`);
      if (!parseObject(call.arguments)) problems.push(`${at}: arguments are no object`);
      seen.add(call.id);
      due.push(call.id);
    }
  }
  if (due.length > 0) problems.push(`the end: ${due.length} calls without a result`);
  return problems;
}
