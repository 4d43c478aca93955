import type { Action, ActionKind, Observation, ObservationKind } from '@tendon/protocol';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

export interface Fact {
  readonly text: string;
  readonly tone?: 'ok' | 'bad' | 'wait';
  /** Part of the figure before it. */
  readonly isJoined?: boolean;
}

/** What a card shows of a step: one row, and a body that hangs from it. */
export interface Card {
  readonly icon?: LucideIcon;
  readonly verb?: string;
  /** A verb that is a heading of its own. */
  readonly strong?: 'plain' | 'bold';
  /** In mono. */
  readonly object?: string;
  readonly detail?: string;
  readonly facts: readonly Fact[];
  readonly tone?: 'ok' | 'bad' | 'wait';
  /** The row read as a sentence; also its accessible name. */
  readonly name: string;
  readonly body?: () => ReactNode;
  /** `newest`: while it is the newest step. `always`: what a person must see. */
  readonly open: 'always' | 'newest' | 'never';
  /** What the button "Copy" gives. */
  readonly copy?: string;
}

/** A step of one kind of action, with what it caused if that is known. */
export interface ActionStep<K extends ActionKind = ActionKind> {
  readonly action: Action<K>;
  readonly observation?: Observation | undefined;
  /** Output so far, while it runs. */
  readonly live?: string | undefined;
  /** A person was asked first. */
  readonly wasAsked?: boolean | undefined;
}

export type ActionCard<K extends ActionKind> = (step: ActionStep<K>) => Card;
export type ObservationCard<K extends ObservationKind> = (observation: Observation<K>) => Card;

/** The observation if it is of this kind. */
export function observed<K extends ObservationKind>(kind: K, observation: Observation | undefined): Observation<K> | undefined {
  return observation?.observation === kind ? (observation as Observation<K>) : undefined;
}
