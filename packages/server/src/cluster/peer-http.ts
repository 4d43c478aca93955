/** Sends requests to other servers of the cluster, over pooled connections. */
import { Agent, request as httpRequest, type ClientRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import type { ServerNode } from '@tendon/core';

/** Short, because the servers of a cluster are close to each other. */
export const CONNECT_MS = 2_000;

export class PeerHttp {
  readonly #agent = new Agent({ keepAlive: true });
  #tls: TlsAgent | undefined;

  /** `isAlone`: over a connection of its own, outside of the pool. */
  request({ url }: Pick<ServerNode, 'url'>, options: RequestOptions & { readonly isAlone?: boolean }): ClientRequest {
    const { protocol, hostname, port } = new URL(url);
    const isTls = protocol === 'https:';
    const { isAlone = false, ...rest } = options;
    const agent = isAlone ? false : isTls ? (this.#tls ??= new TlsAgent({ keepAlive: true })) : this.#agent;
    const place = { host: hostname.replace(/^\[|\]$/g, ''), port: port || (isTls ? 443 : 80), agent, setHost: false };
    const outgoing = isTls ? httpsRequest({ ...place, servername: place.host, ...rest }) : httpRequest({ ...place, ...rest });
    giveUpConnecting(outgoing);
    return outgoing;
  }

  close(): void {
    this.#agent.destroy();
    this.#tls?.destroy();
  }
}

function giveUpConnecting(outgoing: ClientRequest): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => outgoing.destroy(new Error('the server does not answer')), CONNECT_MS);
    socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  });
}
