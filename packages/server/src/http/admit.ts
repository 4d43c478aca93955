import type { IncomingMessage } from 'node:http';
import { authorize, type Access, type AccessRequest } from '../security/authorize.ts';
import type { ServerContext } from './context.ts';

type Asked = Pick<AccessRequest, 'need' | 'conversation' | 'isSocket'>;

/** Asks `authorize` for a request of whichever door. A key that opens nothing is worth a line, without the key. */
export function admit({ config, engine, logger }: ServerContext, request: IncomingMessage, asked: Asked): Access {
  const { method = 'GET', url = '/', headers, socket } = request;
  const { localAddress, remoteAddress } = socket;
  const access = authorize({ method, url, headers, localAddress, ...asked }, { ...config, books: engine.access });
  if (!access.ok && access.isWrong) logger.warn({ address: remoteAddress, need: asked.need }, 'a wrong key was refused');
  return access;
}
