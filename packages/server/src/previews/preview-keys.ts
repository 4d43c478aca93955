import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { PreviewPlace, PreviewPort } from '../platform/preview-site.ts';

/**
 * Names and keys of previews. Nothing is stored: a name can be computed from the conversation and not guessed without the
 * server's secret, and a token says which conversation and port it opens, and until when.
 */
export interface PreviewKeys {
  /** The conversation's part of a preview's name: 32 hexadecimal digits. */
  labelOf(conversationId: string): string;
  /** The same for every request within 12 hours, so that a page can ask again and again; good for 12 to 24. */
  tokenFor(conversationId: string, port: PreviewPort): string;
  /** What the token opens, if it is ours, of this place and not over; `isAging` when it ends within 12 hours. */
  read(token: string, place: PreviewPlace): { readonly conversationId: string; readonly isAging: boolean } | undefined;
}

const WINDOW_MS = 12 * 3_600_000;
export const TOKEN_SECONDS = (2 * WINDOW_MS) / 1000;
const MAX_TOKEN_CHARS = 300;

export function createPreviewKeys(secret: Secret, clock: Pick<Clock, 'now'>): PreviewKeys {
  const key = digest(secret.reveal(), 'tendon previews');
  const labelOf = (id: string): string => digest(key, `label\0${id}`).toString('hex').slice(0, 32);
  const seal = (id: string, port: PreviewPort, window: number): string =>
    digest(key, `open\0${port}\0${window}\0${id}`).toString('base64url').slice(0, 32);
  const currentWindow = (): number => Math.floor(clock.now().getTime() / WINDOW_MS);

  return {
    labelOf,
    tokenFor(id, port) {
      const window = currentWindow();
      return `${Buffer.from(id).toString('base64url')}.${window}.${seal(id, port, window)}`;
    },
    read(token, { port, label }) {
      const match = token.length > MAX_TOKEN_CHARS ? null : /^([\w-]+)\.(\d{1,9})\.([\w-]{32})$/.exec(token);
      if (!match) return undefined;
      const conversationId = Buffer.from(match[1]!, 'base64url').toString('utf8');
      const window = Number(match[2]);
      const age = currentWindow() - window;
      if (age !== 0 && age !== 1) return undefined;
      if (!timingSafeEqual(Buffer.from(match[3]!), Buffer.from(seal(conversationId, port, window)))) return undefined;
      return labelOf(conversationId) === label ? { conversationId, isAging: age === 1 } : undefined;
    },
  };
}

function digest(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
