/**
 * Listens at the server's address while the store of an earlier version is upgraded, which can take minutes: every request is answered that the
 * server is starting, with its progress. Owns the address from the first `say` until `close`.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { UpgradeProgress } from '@tendon/core/storage';
import type { Config } from '../platform/config/config.ts';

/** In seconds, for `Retry-After`. */
const RETRY_AFTER = '2';

export class StartingServer {
  readonly #config: Pick<Config, 'host' | 'port'>;
  #server: Server | undefined;
  #message = '';

  constructor(config: Pick<Config, 'host' | 'port'>) {
    this.#config = config;
  }

  /** Sets the current progress; the first call begins to listen. */
  say(progress: UpgradeProgress): void {
    this.#message =
      progress.doing === 'copying'
        ? `The store of an earlier version is being copied before it is changed: ${progress.percent} %.`
        : 'The store of an earlier version is being changed for this one; a copy of it was made.';
    this.#server ??= this.#listen();
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (!server?.listening) return void server?.close();
    server.close().closeAllConnections();
    await once(server, 'close');
  }

  #listen(): Server {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': RETRY_AFTER, 'cache-control': 'no-store' });
      response.end(JSON.stringify({ status: 'starting', message: this.#message }));
    });
    // An unavailable address is reported when the server itself listens.
    server.on('error', () => {});
    return server.listen(this.#config);
  }
}
