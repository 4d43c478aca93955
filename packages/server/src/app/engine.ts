import type { Clock, Scheduler } from '@tendon/core';
import type { ConversationModels } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';
import type { SandboxPool } from '@tendon/runtime';
import type { Audit } from '../audit/audit.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { Erasures } from '../erasure/erasures.ts';
import type { EventSearch } from '../events/event-search.ts';
import type { Stores } from './open-stores.ts';
import type { ProbedSandbox } from '../sandboxes/open-driver.ts';
import type { Quotas } from '../limits/quotas.ts';
import type { KnownModels } from '../settings/known-models.ts';
import type { Tracing } from '../observability/tracing/tracing.ts';
import type { Readiness } from '../platform/readiness.ts';
import type { Triggers } from '../triggers/triggers.ts';

/** The agents and models that clients can choose, and what a conversation gets. */
export interface ModelPorts {
  /** Names of agents that every conversation can choose. */
  agents(): Promise<readonly string[]>;
  /** Names of models that clients can choose. */
  models(): Promise<readonly string[]>;
  /** The model of a conversation that chose none, as of now. */
  defaultModel(): string;
  /** The model that the next turn of this conversation asks. */
  modelOf(record: StoredConversation): string;
  /** With what stands beside it, and who chose each. */
  modelsOf(record: StoredConversation): ConversationModels;
  /** What the models in use can do. */
  readonly knownModels: KnownModels;
}

/** The conversations, what is in them, and where they are. */
interface ConversationPorts {
  readonly conversations: Conversations;
  readonly eventSearch: EventSearch;
  /** Which server drives which conversation. */
  readonly scheduler: Scheduler;
}

/** What governs users. */
interface GovernancePorts {
  /** What everybody may use. */
  readonly quotas: Quotas;
  /** Set where the server has users. */
  readonly erasures: Erasures | undefined;
}

/** How an engine begins and ends. */
interface EngineLifetime {
  readonly readiness: Readiness;
  /** Once, when the server listens: finds sandboxes again, and goes on with what was at work. */
  wake(): Promise<void>;
  /** Begins nothing by itself any more, and takes nothing from other servers. */
  retire(): Promise<void>;
  /** After `retire`: leaves what it works on to others; given up when the signal aborts. */
  handOver(signal: AbortSignal): Promise<void>;
  /** Lets appends finish. */
  close(options?: CloseOptions): Promise<void>;
}

/** Everything that works without HTTP. The server and the command line stand on it alike. */
export interface Engine extends Stores, ConversationPorts, ModelPorts, GovernancePorts, EngineLifetime {
  readonly clock: Clock;
  readonly runtimes: SandboxPool;
  /** They fire from `wake` on. */
  readonly triggers: Triggers;
  readonly sandbox: ProbedSandbox;
  /** Set where the configuration asks for it. */
  readonly audit: Audit | undefined;
  /** Set where the configuration names a receiver. */
  readonly tracing: Tracing | undefined;
  /** Everything that must not be printed, as of now. */
  secrets(): readonly Secret[];
}

export interface CloseOptions {
  /** Sandboxes end too, when nothing can ask for one any more. Default: they stay for the next server. */
  readonly stopSandboxes?: boolean;
}
