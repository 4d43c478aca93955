import type { IncomingMessage } from 'node:http';
import { catalogError } from '@tendon/protocol';
import { authorize, type Access, type AccessRequest } from '../auth/authorize.ts';
import type { TokenStores } from '../auth/token-stores.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../logger.ts';
import { clientAddress, hopOf } from './client-of.ts';
import type { WrongKeys } from './wrong-keys.ts';

export interface AdmitContext {
  readonly config: Config;
  readonly access: TokenStores;
  readonly wrongKeys: WrongKeys;
  readonly logger: Logger;
}

type AdmitRequest = Pick<AccessRequest, 'need' | 'reach' | 'conversation' | 'isSocket'>;

/**
 * Authorizes a request to any endpoint, and slows down an address that tries wrong keys. A wrong key is
 * logged, without the key itself.
 */
export function admit(context: AdmitContext, request: IncomingMessage, asked: AdmitRequest): Access {
  const { config, access: tokens, logger, wrongKeys } = context;
  const { method = 'GET', url = '/', headers, socket } = request;
  const { localAddress } = socket;
  const address = clientAddress(request);
  const contradiction = hostContradiction(request);
  if (contradiction !== undefined) return { ok: false, error: catalogError('HOST_NOT_ALLOWED', contradiction) };
  const allowed = authorize(
    { method, url, headers, localAddress, isPassedOn: hopOf(request) !== undefined, ...asked },
    { ...config, tokens },
  );
  const access = allowed.ok ? { ...allowed, principal: { ...allowed.principal, address } } : allowed;
  const showsKey = access.ok ? asked.need !== 'public' && config.sessionApiKey !== undefined : access.isWrong === true;
  if (!showsKey) return access;
  if (wrongKeys.secondsToWait(address, access.ok ? access.principal.keyName : undefined) !== undefined)
    return { ok: false, error: catalogError('TOO_MANY_REQUESTS') };
  if (!access.ok && wrongKeys.wrong(address)) logger.warn({ address, need: asked.need }, 'a wrong key was refused');
  return access;
}

/** Two `Host` headers, or an address in the request line that names another host: nobody can say which one the client means. */
function hostContradiction({ rawHeaders, url = '/', headers }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) return 'several Host headers';
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  return authority === undefined || authority.toLowerCase() === headers.host?.toLowerCase() ? undefined : authority.slice(0, 100);
}
