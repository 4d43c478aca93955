import type { AgentState } from '../../agent-state.ts';
import type { CatalogError } from '../../error-catalog.ts';
import type { Action, ActionKind, Observation, ObservationKind, UnknownEvent } from '../../event.ts';
import type { StatusFrame } from '../../volatile.ts';
import type { Frame, Phase } from '../dialect.ts';

export type ActionEncoders = { readonly [K in ActionKind]: (event: Action<K>, phase: Phase) => readonly Frame[] };
export type ObservationEncoders = { readonly [K in ObservationKind]: (event: Observation<K>, phase: Phase) => readonly Frame[] };

/**
 * One generation of the plain-WebSocket protocol, as a table: opendevin-2024-03 is spring 2024, opendevin-2024-11 November 2024.
 * A later generation spreads an earlier one and names what it does otherwise (opendevin-2024-05 and opendevin-2024-06 their state frames, opendevin-2024-07 its meta fields).
 */
export interface Generation {
  readonly greeting: readonly Frame[];
  /** What this generation never sees, whatever its kind. */
  readonly hides: (event: Action | Observation, phase: Phase) => boolean;
  readonly actions: ActionEncoders;
  readonly observations: ObservationEncoders;
  readonly unknown: (event: UnknownEvent) => Frame;
  /** The frames that report the current state, which is no event; `timestamp` as in `Dialect.encodeError`. */
  readonly announce: (state: AgentState, timestamp: string) => readonly Frame[];
  readonly status: (frame: StatusFrame) => readonly Frame[];
  readonly error: (error: CatalogError, timestamp: string) => Frame;
}
