/** Whether a record's value has a `title` that contains these words, whatever the letter case. All backends use this one definition. */
export function isTitled(value: unknown, words: string): boolean {
  const title = (value as { readonly title?: unknown } | null)?.title;
  return typeof title === 'string' && title.toLowerCase().includes(words.toLowerCase());
}
