import { createRest, type Rest } from '@tendon/client';
import type { Config } from '@tendon/server/headless';
import { attachServer } from './attach-server.ts';
import { runningServer, type ServerAddress } from './running-server.ts';

/** The server of a home, for a command that may outlive it: a server that is started again may have another address and key. */
export class AttachedServer {
  readonly #config: Config;
  readonly #env: NodeJS.ProcessEnv;
  #address: ServerAddress;
  #isOwn: boolean;
  #rest: Rest;
  #search: Promise<boolean> | undefined;

  private constructor(config: Config, env: NodeJS.ProcessEnv, { isStarted, ...address }: Awaited<ReturnType<typeof attachServer>>) {
    this.#config = config;
    this.#env = env;
    this.#isOwn = isStarted;
    this.#address = address;
    this.#rest = restOf(address);
  }

  /** A server that is started gets `env`. Rejects with an Error whose message can be shown. */
  static async attach(config: Config, env: NodeJS.ProcessEnv): Promise<AttachedServer> {
    return new AttachedServer(config, env, await attachServer(config, env));
  }

  /** Of the server that was found last. */
  get rest(): Rest {
    return this.#rest;
  }

  /**
   * Looks where the server is by now; one that this program started is started again. Resolves with whether one is there. Rejects with an
   * Error whose message can be shown. `starts`: any one is; only where nobody else may be about to.
   */
  find({ starts = this.#isOwn }: { readonly starts?: boolean } = {}): Promise<boolean> {
    return (this.#search ??= this.#look(starts).finally(() => (this.#search = undefined)));
  }

  async #look(starts: boolean): Promise<boolean> {
    const found = (await runningServer(this.#config)) ?? (starts ? await attachServer(this.#config, this.#env) : undefined);
    if (!found) return false;
    if ('isStarted' in found) this.#isOwn = found.isStarted === true;
    if (found.url !== this.#address.url || found.key !== this.#address.key) {
      this.#address = found;
      this.#rest = restOf(found);
    }
    return true;
  }
}

function restOf({ url, key }: ServerAddress): Rest {
  return createRest({ baseUrl: url, apiKey: () => key });
}
