/** What the model sees of one observation at most, in UTF-16 units. */
export const MAX_OBSERVATION_CHARS = 30_000;

const MARK = '\n[... Observation truncated due to length ...]\n';

/** Keeps the beginning and the end, and never cuts a surrogate pair in two. */
export function cutMiddle(text: string, limit = MAX_OBSERVATION_CHARS): string {
  if (text.length <= limit) return text;
  const half = Math.floor((limit - MARK.length) / 2);
  return text.slice(0, half).toWellFormed() + MARK + text.slice(text.length - half).toWellFormed();
}
