import type { LlmMessage, LlmToolCall } from '../llm/llm-provider.ts';
import { parseObject } from '../tools/parse-tool-call.ts';
import type { CallsEntry, Entry } from './entry.ts';
import type { ProjectedView } from './view.ts';

const INTERRUPTED = 'Interrupted: the outcome of this call is not known. Look at the real state before repeating it.';

/** Messages from entries. Providers want a user's message first and last, and all results of an answer right after it. */
export function assemble(system: string, entries: readonly Entry[], open: CallsEntry | undefined): ProjectedView {
  const messages: LlmMessage[] = [{ role: 'system', text: system }];
  let settled: number | undefined;
  for (const entry of entries) {
    if (messages.length === 1 && !isUser(entry)) messages.push({ role: 'user', text: '[The conversation begins with the agent.]' });
    if (entry.type === 'text') {
      messages.push(toMessage(entry));
      continue;
    }
    messages.push({ role: 'assistant', text: entry.text, toolCalls: entry.calls.map(toLegalCall) });
    for (const { call, wireId, result } of entry.calls) {
      if (!result && entry === open) settled ??= messages.length;
      const { text, imageUrls } = result ?? { text: INTERRUPTED };
      messages.push({ role: 'tool', toolCallId: wireId, toolName: call.name, text, ...(imageUrls && { imageUrls }) });
    }
  }
  settled ??= entries.length === 0 ? 0 : messages.length;
  const last = messages.at(-1)!.role;
  if (last === 'system' || last === 'assistant') messages.push({ role: 'user', text: last === 'system' ? '[Nothing yet.]' : 'Go on.' });
  return { messages, settled };
}

function isUser(entry: Entry): boolean {
  return entry.type === 'text' && entry.role === 'user';
}

function toMessage({ role, text, imageUrls }: Extract<Entry, { type: 'text' }>): LlmMessage {
  return role === 'user' ? { role, text, ...(imageUrls && { imageUrls }) } : { role, text };
}

/** Arguments that are no JSON object would be refused by providers; the model is shown what it wrote. */
function toLegalCall({ call, wireId }: CallsEntry['calls'][number]): LlmToolCall {
  const args = parseObject(call.arguments) ? call.arguments.trim() || '{}' : JSON.stringify({ not_json: call.arguments.slice(0, 1000) });
  return { id: wireId, name: call.name || 'unknown', arguments: args };
}
