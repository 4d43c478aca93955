import assert from 'node:assert/strict';

export interface ModelMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly tool_call_id?: string;
}

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly { readonly type: string; readonly function: { readonly name: string; readonly parameters?: unknown } }[];
}

/** The messages of a request as one text, to look for words in. */
export function said({ messages }: ModelRequest): string {
  return messages.map((one) => `${textOf(one)}\n${JSON.stringify(one.tool_calls ?? '')}`).join('\n');
}

/** The words of a message, in whichever of the two forms it has them. */
export function textOf({ content }: ModelMessage): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? JSON.stringify(part)).join('\n') : '';
}

export function has(asked: ModelRequest, words: string | RegExp): void {
  const all = said(asked);
  const found = typeof words === 'string' ? all.includes(words) : words.test(all);
  assert.ok(found, `the model was not told ${String(words).slice(0, 80)}; last: ${textOf(asked.messages.at(-1)!).slice(0, 80)}`);
}
