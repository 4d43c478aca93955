import type { LlmMessage, Reasoning } from '../llm/llm-provider.ts';
import type { CallsEntry, ViewEntry } from './entry.ts';
import { excerpt } from './excerpt.ts';

/** A message of the user that is shown in part, and the file of the workspace that holds all of it. */
export interface Excerpt {
  readonly eventId: number;
  readonly file: string;
}

export interface ProjectedView {
  readonly messages: readonly LlmMessage[];
  /** So many messages at the front stay as they are whatever is appended to the log. */
  readonly settled: number;
  readonly excerpts: readonly Excerpt[];
}

const INTERRUPTED = 'Interrupted: the outcome of this call is not known. Look at the real state before repeating it.';

/** Messages from entries; those of the user that are longer than `maxMessage` in excerpts. Providers want a user's message first and last, and all results of an answer right after it. */
export function assemble(
  { system, entries, open }: { readonly system: string; readonly entries: readonly ViewEntry[]; readonly open: CallsEntry | undefined },
  maxMessage: number,
): ProjectedView {
  const excerpts: Excerpt[] = [];
  const messages: LlmMessage[] = [{ role: 'system', text: system }];
  let settled: number | undefined;
  for (const entry of entries) {
    if (messages.length === 1 && !isUser(entry)) messages.push({ role: 'user', text: '[The conversation begins with the agent.]' });
    if (entry.type === 'text') {
      const shown = excerpt(entry, maxMessage);
      if (shown.isExcerpt) excerpts.push({ eventId: shown.eventId, file: shown.file! });
      messages.push(toMessage(shown));
      continue;
    }
    messages.push({ role: 'assistant', text: entry.text, toolCalls: entry.calls.map(({ call }) => call), ...thinking(entry) });
    for (const { call, result } of entry.calls) {
      if (!result && entry === open) settled ??= messages.length;
      const { text, imageUrls } = result ?? { text: INTERRUPTED };
      messages.push({ role: 'tool', toolCallId: call.id, toolName: call.name, text, ...(imageUrls && { imageUrls }) });
    }
  }
  settled ??= entries.length === 0 ? 0 : messages.length;
  const last = messages.at(-1)!.role;
  if (last === 'system' || last === 'assistant') messages.push({ role: 'user', text: last === 'system' ? '[Nothing yet.]' : 'Go on.' });
  return { messages, settled, excerpts };
}

function isUser(entry: ViewEntry): boolean {
  return entry.type === 'text' && entry.role === 'user';
}

function toMessage(entry: Extract<ViewEntry, { type: 'text' }>): LlmMessage {
  const { role, text, imageUrls } = entry;
  return role === 'user' ? { role, text, ...(imageUrls && { imageUrls }) } : { role, text, ...thinking(entry) };
}

function thinking({ reasoning }: ViewEntry): { readonly reasoning?: Reasoning } {
  return reasoning ? { reasoning: { model: reasoning.model, parts: reasoning.parts } } : {};
}
