import type { LlmMessage, Reasoning } from '../llm/llm-provider.ts';
import type { CallsEntry, ViewEntry } from './entry.ts';
import { excerpt } from './excerpt.ts';

/** A message of the user or a result that is shown in part, and the file that holds all of it. */
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

/** What a view shows. */
export interface Shown {
  readonly system: string;
  readonly entries: readonly ViewEntry[];
  readonly open: CallsEntry | undefined;
}

/**
 * Makes messages of a view's entries. Providers want a user's message first and last, and all results of an answer right after it.
 *
 * Invariants
 * ASS1  Messages of entries before the open answer are made once: a step costs what it adds, however long the log is.
 * ASS2  What is shown is what a new assembly would show. For that the owner makes a new one when it changes entries before the open one.
 */
export class Assembly {
  /** The user's messages that are longer are shown in part. */
  readonly maxMessage: number;
  /** Of the first `#done` entries, which cannot change any more. */
  readonly #messages: LlmMessage[] = [];
  readonly #excerpts: Excerpt[] = [];
  #done = 0;

  constructor(maxMessage: number) {
    this.maxMessage = maxMessage;
  }

  project({ system, entries, open }: Shown): ProjectedView {
    const openAt = open ? entries.lastIndexOf(open) : -1;
    const end = openAt === -1 ? entries.length : openAt;
    for (; this.#done < end; this.#done++) this.#add(entries[this.#done]!, this.#messages, this.#excerpts);
    const messages: LlmMessage[] = [{ role: 'system', text: system }, ...this.#messages];
    const excerpts = [...this.#excerpts];
    const results = open?.calls.findIndex(({ result }) => !result) ?? -1;
    let settled: number | undefined;
    for (const entry of entries.slice(this.#done)) {
      this.#add(entry, messages, excerpts);
      if (entry === open && results !== -1) settled = messages.length - open.calls.length + results;
    }
    settled ??= entries.length === 0 ? 0 : messages.length;
    const last = messages.at(-1)!.role;
    if (last === 'system' || last === 'assistant') messages.push({ role: 'user', text: last === 'system' ? '[Nothing yet.]' : 'Go on.' });
    return { messages, settled, excerpts };
  }

  #add(entry: ViewEntry, messages: LlmMessage[], excerpts: Excerpt[]): void {
    const isFirst = messages.length === 0 || messages.at(-1)!.role === 'system';
    if (isFirst && !isUser(entry)) messages.push({ role: 'user', text: '[The conversation begins with the agent.]' });
    if (entry.type === 'text') {
      const shown = excerpt(entry, this.maxMessage);
      if (shown.isExcerpt) excerpts.push({ eventId: shown.eventId, file: shown.file! });
      messages.push(toMessage(shown));
      return;
    }
    messages.push({ role: 'assistant', text: entry.text, toolCalls: entry.calls.map(({ call }) => call), ...thinking(entry) });
    for (const { call, result } of entry.calls) {
      const { text, imageUrls, file } = result ?? { text: INTERRUPTED };
      if (result && file !== undefined) excerpts.push({ eventId: result.eventId, file });
      messages.push({ role: 'tool', toolCallId: call.id, toolName: call.name, text, ...(imageUrls && { imageUrls }) });
    }
  }
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
