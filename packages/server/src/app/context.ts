import type { Config } from '../platform/config/config.ts';
import type { ClientTimeouts } from '../platform/http/client-timeouts.ts';
import type { Engine } from './engine.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Peers } from '../cluster/peers.ts';
import type { WrongKeys } from '../platform/http/wrong-keys.ts';

/** What is the same for every client. */
interface Published {
  /** The OpenAPI document of these routes; made when it is asked for. */
  readonly openApi: () => Promise<object>;
  /** The folder of the built web app, if there is one. */
  readonly webRoot: string | undefined;
}

/** One of several servers. */
interface AmongPeers {
  /** Of a server that has peers. */
  readonly peers: Peers | undefined;
  /** Resolves when the server has handed over what it worked on, or its time for that is over. */
  readonly drain: () => Promise<void>;
}

/** What the routes work with. */
export interface ServerContext extends Engine, Published, AmongPeers {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly timeouts: ClientTimeouts;
  readonly logger: Logger;
  readonly wrongKeys: WrongKeys;
  readonly version: string;
}
