import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import type { Dial } from './listen-proxy.ts';

const TLS_DEADLINE_MS = 15_000;

/** A connection to speak HTTP on with the origin of `url`: over TLS, with its certificate checked, where it is `https`. */
export async function dialOrigin(url: URL, dial: Dial, signal: AbortSignal): Promise<Socket> {
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = await dial(url.hostname, Number(url.port || (isTls ? 443 : 80)), signal);
  if (!isTls) return socket;
  const { connect: connectTls } = await import('node:tls');
  const secure = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) });
  try {
    await once(secure, 'secureConnect', { signal: AbortSignal.any([signal, AbortSignal.timeout(TLS_DEADLINE_MS)]) });
    return secure;
  } catch (error) {
    secure.on('error', () => {}).destroy();
    throw error;
  }
}
