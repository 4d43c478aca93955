import type { KeyInfo } from '@tendon/protocol';
import type { ApiKey } from './access-books.ts';
import type { Held } from './token-book.ts';

/** A key as it is listed, without what it opens with. */
export function keyInfo({ id, value, created_at, expires_at, last_used_at }: Held<ApiKey>): KeyInfo {
  return { id, ...value, created_at, expires_at, last_used_at };
}
