/**
 * Owns the limits on Engine.IO sessions of clients without a key: such a client is sent an error that says so, which takes a
 * session, and until then its packets are in memory.
 *
 * UN1  A session whose handshake shows no key that opens anything may send `MAX_BYTES` at a time.
 * UN2  An address has at most `MAX_SESSIONS` of them at once.
 */
import type { IncomingMessage } from 'node:http';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { identify } from '../platform/auth/identify.ts';
import { clientAddress } from '../platform/http/client-of.ts';
import type { AdmitContext } from '../platform/http/admit.ts';

/** Enough for a connect packet with the client's whole handshake. */
export const MAX_BYTES = 64 * 1024;
const MAX_SESSIONS = 32;

/** What is used of an Engine.IO session. */
export interface EngineSession {
  readonly request: IncomingMessage;
  once(event: 'close', listener: () => void): unknown;
  close(): unknown;
}

export class UnauthenticatedSessions {
  readonly #context: Pick<AdmitContext, 'config' | 'access'>;
  readonly #sessionOf: (id: string) => EngineSession | undefined;
  readonly #open = new Map<string, number>();

  constructor(context: Pick<AdmitContext, 'config' | 'access'>, sessionOf: (id: string) => EngineSession | undefined) {
    this.#context = context;
    this.#sessionOf = sessionOf;
  }

  /** Whether neither the request nor the handshake of its session shows a key that opens anything. */
  has(request: IncomingMessage): boolean {
    if (this.#isKnown(request)) return false;
    const session = this.#sessionOf(sessionIdOf(request) ?? '');
    return !session || !this.#isKnown(session.request);
  }

  /** Why a poll or handshake is refused; `undefined` when it is accepted. */
  refusalOf(request: IncomingMessage): CatalogError | undefined {
    if (!this.has(request)) return undefined;
    if (sessionIdOf(request) === undefined)
      return (this.#open.get(clientAddress(request)) ?? 0) < MAX_SESSIONS ? undefined : catalogError('TOO_MANY_REQUESTS');
    if (request.method !== 'POST') return undefined;
    // Without a length its size is unknown.
    const bytes = Number(request.headers['content-length'] ?? Number.NaN);
    return bytes <= MAX_BYTES ? undefined : catalogError('FRAME_TOO_LARGE', '64 KB without a key');
  }

  opened(session: EngineSession): void {
    if (this.#isKnown(session.request)) return;
    const address = clientAddress(session.request);
    this.#open.set(address, (this.#open.get(address) ?? 0) + 1);
    session.once('close', () => {
      const left = this.#open.get(address)! - 1;
      if (left === 0) this.#open.delete(address);
      else this.#open.set(address, left);
    });
  }

  #isKnown({ url = '/', headers }: IncomingMessage): boolean {
    const { config, access } = this.#context;
    const principal = identify({ url, headers }, { sessionApiKey: config.sessionApiKey, tokens: access });
    return principal !== undefined && principal !== 'wrong';
  }
}

function sessionIdOf({ url = '/' }: IncomingMessage): string | undefined {
  return new URLSearchParams(url.split('?')[1]).get('sid') ?? undefined;
}
