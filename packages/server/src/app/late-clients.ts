/**
 * Owns a server's requests and upgrades until what serves clients is loaded, which is two thirds of what a server could load at its start.
 *
 * LD1  Probes of its health are answered without it; everything else loads it, and waits for it.
 * LD2  It is loaded once. Where that fails, each request is answered with an error and each upgrade ends.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { takeOver } from '../platform/http/take-over.ts';
import { PROBES } from './health-routes.ts';
import type { ServedClients } from './serve-clients.ts';

interface LateClientsOptions {
  readonly load: () => Promise<ServedClients>;
  readonly isForPreview: (request: IncomingMessage) => boolean;
  readonly onFailure: (cause: unknown) => void;
}

export class LateClients {
  readonly #http: Server;
  readonly #options: LateClientsOptions;
  #loading: Promise<ServedClients> | undefined;
  #served: ServedClients | undefined;

  /** Called when `http` has the listener that answers probes, and no other. */
  constructor(http: Server, options: LateClientsOptions) {
    this.#http = http;
    this.#options = options;
    takeOver(http, 'request', (_pass, request: IncomingMessage, response: ServerResponse) => {
      // Under any name but that of a preview.
      if (PROBES.has(request.url!.split('?', 1)[0]!) && !options.isForPreview(request)) return false;
      this.#again('request', [request, response], () => response.writeHead(500).end());
      return true;
    });
    http.on('upgrade', this.#onUpgrade);
  }

  /** Those that are served; undefined until something has loaded them. */
  get served(): ServedClients | undefined {
    return this.#served;
  }

  load(): Promise<ServedClients> {
    return (this.#loading ??= this.#load());
  }

  async close(): Promise<void> {
    await this.#loading?.then(
      (served) => served.close(),
      () => undefined,
    );
  }

  async #load(): Promise<ServedClients> {
    return (this.#served = await this.#options.load());
  }

  readonly #onUpgrade = (request: IncomingMessage, client: Duplex, head: Buffer): void => {
    // Those that were added since take it.
    if (this.#served) return;
    const destroy = () => client.destroy();
    client.once('error', destroy);
    this.#again('upgrade', [request, client, head], destroy);
  };

  /** Once there are listeners for it. */
  #again(event: 'request' | 'upgrade', args: readonly unknown[], refuse: () => void): void {
    this.load().then(
      () => this.#http.emit(event, ...args),
      (cause: unknown) => {
        this.#options.onFailure(cause);
        refuse();
      },
    );
  }
}
