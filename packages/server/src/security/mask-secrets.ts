import type { Secret } from '@tendon/core';

export const MASK = '<secret_hidden>';

/** `text` without the values, as they are and as they look inside JSON and URLs. */
export function maskSecrets(text: string, secrets: readonly Secret[]): string {
  let masked = text;
  for (const secret of secrets) {
    const value = secret.reveal();
    for (const form of new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])) {
      if (masked.includes(form)) masked = masked.replaceAll(form, MASK);
    }
  }
  return masked;
}
