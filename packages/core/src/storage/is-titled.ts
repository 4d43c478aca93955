/** Whether a record's value has a `title` that holds these words, whatever the letter case. The one meaning of it, for every backend. */
export function isTitled(value: unknown, words: string): boolean {
  const title = (value as { readonly title?: unknown } | null)?.title;
  return typeof title === 'string' && title.toLowerCase().includes(words.toLowerCase());
}
