import type { Clock, Secret } from '@tendon/core';
import type { Conversations } from '../conversations/conversations.ts';
import type { AdmitContext } from '../platform/http/admit.ts';
import type { ClientPatience } from '../platform/http/client-patience.ts';
import type { Metrics } from '../platform/metrics.ts';

/** What sockets work with. */
export interface RealtimeContext extends AdmitContext {
  readonly conversations: Conversations;
  readonly clock: Clock;
  readonly jwtSecret: Secret;
  readonly metrics: Metrics;
  readonly patience: ClientPatience;
}
