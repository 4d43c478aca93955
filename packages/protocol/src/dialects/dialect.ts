import type { AgentState } from '../agent-state.ts';
import type { CatalogError } from '../error-catalog.ts';
import type { Event, ParsedAction } from '../event.ts';
import type { VolatileFrame } from '../volatile.ts';

/** JSON as it goes over the wire. */
export type Frame = Readonly<Record<string, unknown>>;

/** What a client's frame asks for. */
export type Decoded =
  | { readonly type: 'action'; readonly action: ParsedAction }
  | {
      readonly type: 'initialize';
      readonly model?: string;
      readonly directory?: string;
      readonly agent?: string;
      readonly settings: Readonly<Record<string, unknown>>;
    }
  /** Begin a task; a conversation is made when there is none. */
  | { readonly type: 'start'; readonly action: ParsedAction<'start'> }
  /** Understood, and nothing is to be done; `frames` gives the answer. `timestamp`: now, UTC ISO 8601. */
  | { readonly type: 'answer'; readonly frames: (timestamp: string) => readonly Frame[] }
  | { readonly type: 'error'; readonly error: CatalogError };

/** `replay`: a stored event sent to a connecting client. `live`: it was appended while the client watched. */
export type Phase = 'replay' | 'live';

/** What a connection adds to the frames, or leaves out. */
interface ReplayTraits {
  /** Stored states come in their place; else only the last one, at the end. */
  readonly hasStates?: true;
  /** Every frame has a `conversation_id`: its clients learn it in no other way, and reconnect with it. */
  readonly namesConversation?: true;
}

/** Pure functions between canonical events and one generation of clients. No state, no I/O. */
export interface Dialect {
  readonly name: 'openhands-v0' | 'opendevin-ws' | 'events-doc';
  readonly replay?: ReplayTraits;
  /** Sent when a client connects, and again as the answer to `initialize`. */
  readonly greeting: readonly Frame[];
  /** Frames with the current state, which are not events, for a client whose replay contains none. Default: no frames. */
  readonly announce?: (state: AgentState, timestamp: string) => readonly Frame[];
  /** The frames that show this event to the client, in order; none when the generation does not know or show it. */
  encode(event: Event, phase: Phase): readonly Frame[];
  /** Status updates and the like; none when the generation has nothing for it. */
  encodeVolatile(frame: VolatileFrame): readonly Frame[];
  /** `timestamp`: now, UTC ISO 8601. The frame is no event: it has no id and is not in the log. */
  encodeError(error: CatalogError, timestamp: string): Frame;
  /** Total: anything that came over the wire, parsed from JSON, becomes one of the five. */
  decode(frame: unknown): Decoded;
}
