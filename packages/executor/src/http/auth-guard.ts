import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { dirname, resolve, sep } from 'node:path';
import { MIN_SECRET_LENGTH } from '@tendon/protocol/masking';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';

/** Why a request is refused, if it is; routes and upgrades ask it alike. */
export type AuthGuard = (request: Pick<IncomingMessage, 'headers'>) => AuthRefusal | undefined;

export interface AuthRefusal {
  readonly status: 401 | 403;
  /** Says what to do. */
  readonly error: string;
}

const LOOPBACK_BIND = /^(localhost|::1|127(\.\d{1,3}){3})$/i;
const LOOPBACK_HOST = /^(localhost|\[::1\]|127(\.\d{1,3}){3})(:\d{1,5})?$/i;

/**
 * A client that reaches the executor may run anything inside. A unix socket has its folder for a guard; a port has this: programs with the key
 * come in, or with none configured those of this machine, and pages never do: not by their `Origin`, and not by a name that was
 * rebound to this machine. Throws, with what to do, where a key is missing or is none.
 */
export function createAuthGuard({ endpoint, folders }: Pick<ExecutorConfig, 'endpoint' | 'folders'>): AuthGuard {
  const { port, host, keyFile } = endpoint;
  if (port === undefined) return () => undefined;
  if (host !== undefined && !LOOPBACK_BIND.test(host) && keyFile === undefined) {
    throw new Error(
      `config.endpoint.host ${host} can be reached from other machines: give config.endpoint.keyFile, a file with a key of at least ${MIN_SECRET_LENGTH} characters`,
    );
  }
  const key = keyFile === undefined ? undefined : digest(readKey(keyFile, folders.stateDir));
  return ({ headers }) => {
    if (headers.origin !== undefined) return { status: 403, error: 'pages are not served here: send no Origin' };
    if (key === undefined) {
      if (LOOPBACK_HOST.test(headers.host ?? '')) return undefined;
      return { status: 403, error: 'without a key only this machine is served, under its own names: ask 127.0.0.1' };
    }
    const given = headers['x-session-api-key'];
    // Of the same length, whatever was given: how long the comparison takes says nothing.
    if (typeof given === 'string' && timingSafeEqual(digest(given), key)) return undefined;
    return { status: 401, error: `the key is ${given === undefined ? 'missing' : 'wrong'}: send it as X-Session-API-Key` };
  };
}

function readKey(keyFile: string, stateDir: string): string {
  if (!`${dirname(resolve(keyFile))}${sep}`.startsWith(`${resolve(stateDir)}${sep}`)) {
    throw new Error(`config.endpoint.keyFile must be in ${stateDir} (config.folders.stateDir), which what runs inside does not see`);
  }
  const key = readFileSync(keyFile, 'utf8').trim();
  if (key.length < MIN_SECRET_LENGTH)
    throw new Error(`config.endpoint.keyFile ${keyFile} holds no key: at least ${MIN_SECRET_LENGTH} characters are needed`);
  return key;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
