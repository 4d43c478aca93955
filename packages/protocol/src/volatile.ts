import type { LlmMetrics } from './event.ts';
import type { NetworkQuestion } from './rest/network.ts';

/**
 * Frames that are shown and forgotten: never stored, never replayed, lost without harm. Correctness comes from the log alone.
 * On Socket.IO they travel as `tendon_volatile` (status updates as `oh_event`, which is where clients look for them).
 */
export type VolatileFrame = DelegatedFrame | DeltaFrame | NetworkFrame | OutputFrame | PortsFrame | ReplayFrame | StatusFrame;

/** A piece of the model's partial answer. `turn` is the id the first event of the answer will have. `offset` in UTF-16 units. */
export interface DeltaFrame {
  readonly volatile: 'delta';
  readonly turn: number;
  readonly part: 'text' | 'reasoning' | 'tool';
  readonly offset: number;
  readonly text: string;
}

/** A piece of a running command's output. `cause` is the action's id, `offset` counts bytes of the whole output before this piece. */
export interface OutputFrame {
  readonly volatile: 'output';
  readonly cause: number;
  readonly offset: number;
  readonly text: string;
}

/** All questions of the sandbox that wait for a person, whenever one comes or goes. They are stored: `GET …/network` has them too. */
export interface NetworkFrame {
  readonly volatile: 'network';
  readonly questions: readonly NetworkQuestion[];
}

/**
 * What agents wait for to which this conversation's agent has delegated, whenever one begins or ends to wait. What it is stands at
 * `GET …/delegated/questions`, which not everybody who may look at this conversation may see.
 */
export interface DelegatedFrame {
  readonly volatile: 'delegated';
  readonly waiting: readonly { readonly conversation_id: string; readonly event_id: number }[];
}

/** What the agent's programs serve now, sent to watchers when it has changed. Links to them are at `web-hosts`. */
export interface PortsFrame {
  readonly volatile: 'ports';
  readonly ports: readonly { readonly port: number; readonly program: string }[];
}

/**
 * Around the replay of stored events: `begin` before the first event of a connection, `end` when the client has caught up.
 * By then every event below `next_id` that the client will ever be sent has been sent.
 */
export type ReplayFrame =
  | { readonly volatile: 'replay'; readonly phase: 'begin' }
  | TailFrame
  | { readonly volatile: 'replay'; readonly phase: 'end'; readonly next_id: number };

/**
 * To a client that asked for the end of the log (`tail`): the events from `from` below `first_id` are not sent, and `GET …/events` has them.
 * `state` is the fold of the whole log below `state.next_id`, which is no lower than `first_id`.
 */
export interface TailFrame {
  readonly volatile: 'replay';
  readonly phase: 'tail';
  readonly from: number;
  readonly first_id: number;
  readonly state: StateFrame;
}

/** A `ConversationState` on the wire. */
export interface StateFrame {
  readonly next_id: number;
  readonly agent_state: string;
  readonly reason: string;
  readonly resumes_at?: string;
  /** As events are sent. */
  readonly pending: readonly Readonly<Record<string, unknown>>[];
  readonly last_user_message_id: number;
  readonly last_agent_event_id: number;
  readonly llm_metrics?: LlmMetrics;
}

/** The status line of old clients, e.g. `STATUS$STARTING_RUNTIME`. */
export interface StatusFrame {
  readonly volatile: 'status';
  readonly type: 'info' | 'error';
  readonly id?: string;
  readonly message: string;
  readonly conversation_title?: string;
}
