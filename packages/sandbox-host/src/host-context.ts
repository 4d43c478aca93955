import type { Clock, Secret } from '@tendon/core';
import type { HostInfo } from '@tendon/runtime';
import type { App, Logger } from '@tendon/server/platform';
import type { HostPatience } from './host-patience.ts';
import type { HostedSandboxes } from './hosted-sandboxes.ts';

/** What the routes of an executor host work with. */
export interface HostContext {
  readonly sandboxes: HostedSandboxes;
  readonly sandbox: HostInfo['sandbox'];
  /** Absolute; where the host keeps what it must remember. */
  readonly home: string;
  readonly access: {
    /** The address that it is bound to. */
    readonly host: string;
    readonly allowedHosts: readonly string[];
    readonly key: Secret | undefined;
  };
  readonly patience: HostPatience;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** The OpenAPI document of these routes; made when it is asked for. */
  readonly openApi: () => Promise<object>;
}

/** One group of routes: a file in `routes/` and a line in `host-app.ts`. */
export type HostRoutes = (app: App, context: HostContext) => void;
