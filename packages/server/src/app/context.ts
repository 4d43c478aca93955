import type { Config } from '../platform/config/config.ts';
import type { ClientTimeouts } from '../platform/http/client-timeouts.ts';
import type { Engine } from './engine.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { WrongKeys } from '../platform/http/wrong-keys.ts';

/** What the routes work with. */
export interface ServerContext extends Engine {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly timeouts: ClientTimeouts;
  readonly logger: Logger;
  readonly wrongKeys: WrongKeys;
  readonly version: string;
  /** The OpenAPI document of these routes; made when it is asked for. */
  readonly openApi: () => Promise<object>;
  /** The folder of the built web app, if there is one. */
  readonly webRoot: string | undefined;
}
