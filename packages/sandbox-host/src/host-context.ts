import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { HostInfo } from '@tendon/runtime';
import type { App, Logger } from '@tendon/server/platform';
import type { HostedSandboxes } from './hosted-sandboxes.ts';

/** What is fixed from the start of a host on. */
interface HostFacts {
  readonly sandbox: HostInfo['sandbox'];
  /** Absolute; where the host keeps what it must remember. */
  readonly home: string;
  readonly timeouts: HostTimeouts;
  readonly version: string;
}

/** What the routes of an executor host work with. */
export interface HostContext extends HostFacts {
  readonly sandboxes: HostedSandboxes;
  readonly access: {
    /** The address that it is bound to. */
    readonly host: string;
    readonly allowedHosts: readonly string[];
    readonly key: Secret | undefined;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  /** The OpenAPI document of these routes; made when it is asked for. */
  readonly openApi: () => Promise<object>;
}

/** One group of routes: a file in `routes/` and a line in `host-app.ts`. */
export type HostRoutes = (app: App, context: HostContext) => void;

/** How long an executor host waits for a client that stops in the middle. */
export interface HostTimeouts {
  readonly headersMs: number;
  /** For a whole request: as long as the largest file may take. */
  readonly requestMs: number;
  /** Without a byte in the middle of a request, or of reading its answer. */
  readonly stillMs: number;
  /** How often it looks. */
  readonly checkMs: number;
}

export const HOST_TIMEOUTS: HostTimeouts = { headersMs: 20_000, requestMs: 30 * 60_000, stillMs: 60_000, checkMs: 15_000 };
