import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams, refuseUpgrade } from '@tendon/protocol/node';
import { reasonOf } from '../action-handler.ts';
import type { PortWatch } from '../ports/port-watch.ts';

const CONNECT_MS = 5000;
const MAX_TUNNELS = 256;

export interface Tunnels {
  join(request: IncomingMessage, client: Duplex, head: Buffer): void;
  /** How many there are now. */
  count(): number;
}

/**
 * `GET /tunnel/<port>` with `Upgrade: tcp`: the connection becomes one to that port. Only to what the agent's programs and the
 * plugins serve, and only by loopback: where the network is the host's, its other services stay out of reach.
 */
export function createTunnels(ports: Pick<PortWatch, 'find'>): Tunnels {
  let open = 0;

  async function join(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const port = /^\/tunnel\/(\d{1,5})$/.exec(request.url ?? '')?.[1];
    if (port === undefined || request.headers.upgrade !== 'tcp') return refuseUpgrade(client, 404, { error: 'no such route' });
    if (open >= MAX_TUNNELS) return refuseUpgrade(client, 503, { error: 'there are too many connections' });
    open += 1;
    client.once('close', () => (open -= 1));
    try {
      const served = await ports.find(Number(port));
      if (served === undefined) return refuseUpgrade(client, 404, { error: `nothing listens on port ${port}` });
      const target = await dial(served.port, served.addresses);
      if (client.destroyed) return void target.destroy();
      client.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
      target.write(head);
      joinStreams(client, target);
    } catch (error) {
      refuseUpgrade(client, 502, { error: reasonOf(error) });
    }
  }

  return {
    join(request, client, head) {
      client.on('error', () => client.destroy());
      void join(request, client, head);
    },
    count: () => open,
  };
}

/** Rejects with the error of the last address. */
async function dial(port: number, addresses: readonly string[]): Promise<Socket> {
  let failure: unknown;
  for (const host of addresses) {
    const socket = connect({ host, port });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
      return socket;
    } catch (error) {
      socket.on('error', () => {}).destroy();
      failure = error;
    }
  }
  throw failure;
}
