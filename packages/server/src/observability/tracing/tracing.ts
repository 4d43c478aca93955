import type { App } from '../../platform/http/app.ts';
import type { ConversationObserver } from '../observe-conversation.ts';

export interface TracedConversation {
  readonly id: string;
  readonly agent: string;
  readonly delegated_by?: { readonly conversation_id: string } | undefined;
}

/** Spans of requests, agents, models and tools, by the conventions of OpenTelemetry. Only a server with a receiver for them has it. */
export interface Tracing {
  /** Every request becomes a span; call it before the routes are added. */
  requests(app: App): void;
  /** What a client asked for over a socket, below the span that its handshake named. */
  frame<T>(traceparent: string | undefined, name: string, submit: () => Promise<T>): Promise<T>;
  /** Around the parts of one conversation. */
  of(conversation: TracedConversation): ConversationObserver;
  /** Ends what is open and sends what there is, for at most two seconds. */
  close(): Promise<void>;
}
