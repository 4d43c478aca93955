/**
 * Milliseconds that a provider asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date.
 * Undefined when it says nothing, or nothing that can be read. Never negative.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: Date): number | undefined {
  const ms = Number(headers['retry-after-ms'] || Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const text = headers['retry-after']?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : Math.ceil(seconds * 1_000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
