import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { Conversations } from '../conversations/conversations.ts';
import type { AdmitContext } from '../platform/http/admit.ts';
import type { ClientTimeouts } from '../platform/http/client-timeouts.ts';
import type { Tracing } from '../observability/tracing/tracing.ts';
import type { Metrics } from '../platform/metrics.ts';
import { catalogError } from '@tendon/protocol';
import type { Principal } from '../platform/auth/identify.ts';
import type { Wire } from './wire.ts';

/** What sockets work with. */
export interface RealtimeContext extends AdmitContext {
  readonly conversations: Conversations;
  readonly clock: Clock;
  readonly jwtSecret: Secret;
  readonly metrics: Metrics;
  readonly timeouts: ClientTimeouts;
  readonly tracing: Tracing | undefined;
}

/** A socket lasts no longer than what opened it: a key, a link, a session. */
export async function endWithAccess({ ended }: Principal, wire: Wire): Promise<void> {
  await ended?.(wire.closed);
  if (ended && !wire.closed.aborted) wire.close(catalogError('ACCESS_ENDED').message);
}

/** Who may only watch is sent everything and heard in nothing. */
export function isWatcher({ scope }: Principal): boolean {
  return scope === undefined || scope === 'read';
}

/** The header of a client that connects. */
export function traceparentOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined;
}
