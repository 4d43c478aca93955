import { outsideText } from '@tendon/core';
import type { Mention } from './mention.ts';
import type { StoredTrigger } from './trigger-store.ts';

/** Of a mention without one of its own. */
export const MENTION_PROMPT = `{{author}} asks you in {{repository}}#{{number}}:

{{request}}

What it is about:

{{text}}

Your last message is posted there as a comment.`;

const MAX_REQUEST = 20_000;
const MAX_TEXT = 30_000;

/** What the agent is asked. What others wrote is marked as text from outside, wherever the template puts it. */
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

/** Of a webhook, or one that was fired by hand. `text` is what came. */
export function payloadPrompt({ prompt }: Pick<StoredTrigger, 'prompt'>, source: string, text: string): string {
  const given = text.trim() === '' ? '' : outsideText(source, text.slice(0, MAX_TEXT));
  return filled(prompt, { text: given, request: '', repository: '', number: '', author: '' });
}

/** In one pass: a value cannot bring a placeholder with it. Text that the template does not mention stands at its end. */
function filled(template: string, values: Readonly<Record<string, string>> & { readonly text: string }): string {
  const text = template.replaceAll(/\{\{ *(\w+) *\}\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole));
  return (/\{\{ *text *\}\}/.test(template) ? text : `${text}\n\n${values.text}`).trim();
}

/** Names of users and repositories have no other characters; what has is not one. */
function plain(name: string): string {
  return name.replaceAll(/[^\w./-]/g, '_');
}
