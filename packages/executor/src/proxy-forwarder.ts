import { connect, createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { joinStreams } from '@tendon/protocol/node';

const PORT = 3128;
const MAX_CONNECTIONS = 256;

/**
 * The egress of what runs inside: a loopback port whose bytes go to the proxy's unix socket. Resolves with the port, the
 * usual one where it is free.
 */
export async function forwardProxy(socketPath: string): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((client) => {
    joinStreams(client, connect(socketPath));
  });
  server.maxConnections = MAX_CONNECTIONS;
  const port = (await listen(server, PORT)) ?? (await listen(server, 0));
  if (port === undefined) throw new Error('no loopback port is free');
  return { port, close: () => server.close() };
}

async function listen(server: Server, port: number): Promise<number | undefined> {
  server.listen(port, '127.0.0.1');
  const failure = await Promise.race([once(server, 'listening').then(() => undefined), once(server, 'error')]);
  const address = server.address();
  return failure === undefined && address !== null && typeof address === 'object' ? address.port : undefined;
}
