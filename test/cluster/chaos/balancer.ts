/**
 * Owns the one address that clients know: a load balancer of connections, without stickiness, as one stands before any cluster. It asks each
 * server whether it is ready, leads new connections in turn to those that are, and closes those that lead to one that does not answer.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const ASK_MS = 500;
const ANSWER_MS = 2_500;
/** Questions in a row without an answer after which a server is taken for dead. */
const MISSED = 2;

interface Backend {
  readonly port: number;
  readonly sockets: Set<Socket>;
  isReady: boolean;
  missed: number;
}

export class Balancer {
  readonly #backends: readonly Backend[];
  readonly #server = createServer((client) => this.#take(client));
  readonly #closing = new AbortController();
  readonly #onLost: (port: number) => void;
  #next = 0;

  private constructor(ports: readonly number[], onLost: (port: number) => void) {
    this.#onLost = onLost;
    this.#backends = ports.map((port) => ({ port, sockets: new Set(), isReady: true, missed: 0 }));
  }

  /** `onLost`: one that was ready does not answer any more. */
  static async open(ports: readonly number[], onLost: (port: number) => void): Promise<Balancer> {
    const balancer = new Balancer(ports, onLost);
    await once(balancer.#server.listen(0, '127.0.0.1'), 'listening');
    for (const backend of balancer.#backends) void balancer.#watch(backend);
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#closing.abort();
    this.#server.close();
    for (const { sockets } of this.#backends) for (const socket of sockets) socket.destroy();
  }

  #take(client: Socket): void {
    const ready = this.#backends.filter(({ isReady }) => isReady);
    const backend = ready[(this.#next += 1) % Math.max(1, ready.length)];
    if (!backend) return void client.destroy();
    const server = connect(backend.port, '127.0.0.1');
    const both = [client, server];
    for (const socket of both) {
      backend.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        backend.sockets.delete(socket);
        for (const each of both) each.destroy();
      });
    }
    client.pipe(server).pipe(client);
  }

  async #watch(backend: Backend): Promise<void> {
    for (const { signal } = this.#closing; !signal.aborted; await sleep(ASK_MS)) await this.#ask(backend);
  }

  async #ask(backend: Backend): Promise<void> {
    const url = `http://127.0.0.1:${backend.port}/ready`;
    const headers = { connection: 'close' };
    const status = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS) }).then(
      async (answer) => (await answer.arrayBuffer(), answer.status),
      () => undefined,
    );
    backend.missed = status === undefined ? backend.missed + 1 : 0;
    // One that leaves answers, and has connections until it hangs up.
    backend.isReady = status === 200 || (status === undefined && backend.isReady && backend.missed < MISSED);
    if (backend.missed === MISSED) this.#onLost(backend.port);
    if (backend.missed >= MISSED) for (const socket of backend.sockets) socket.destroy();
  }
}
