import { outsideText } from '@tendon/core';
import type { Mention } from './mention.ts';
import type { StoredTrigger } from './trigger-store.ts';

/** The prompt of a mention trigger that has none of its own. */
export const MENTION_PROMPT = `{{author}} asks you in {{repository}}#{{number}}:

{{request}}

What it is about:

{{text}}

Your last message is posted there as a comment.`;

const MAX_REQUEST = 20_000;
const MAX_TEXT = 30_000;

/** The prompt for a mention. Text of strangers is marked as text from outside, wherever the template puts it. */
export function mentionPrompt({ prompt, kind }: Pick<StoredTrigger, 'prompt' | 'kind'>, mention: Mention): string {
  const { repository, number, author, request, about } = mention;
  return filled(prompt, {
    repository: plain(repository),
    number: String(number),
    author: plain(author),
    request: request?.slice(0, MAX_REQUEST) ?? 'Do what the issue asks for.',
    text: outsideText(kind, about.slice(0, MAX_TEXT)),
  });
}

/** The prompt for a webhook, a schedule or a trigger fired by hand. `text` is the payload. */
export function payloadPrompt({ prompt }: Pick<StoredTrigger, 'prompt'>, source: string, text: string): string {
  const given = text.trim() === '' ? '' : outsideText(source, text.slice(0, MAX_TEXT));
  return filled(prompt, { text: given, request: '', repository: '', number: '', author: '' });
}

/** Fills the template in one pass, so that a value cannot introduce placeholders. Text without a placeholder is appended. */
function filled(template: string, values: Readonly<Record<string, string>> & { readonly text: string }): string {
  const text = template.replaceAll(/\{\{ *(\w+) *\}\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole));
  return (/\{\{ *text *\}\}/.test(template) ? text : `${text}\n\n${values.text}`).trim();
}

/** Replaces characters that no name of a user or repository has. */
function plain(name: string): string {
  return name.replaceAll(/[^\w./-]/g, '_');
}
