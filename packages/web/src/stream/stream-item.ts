import type { Action, Observation, UnknownEvent } from '@tendon/protocol';
import type { TurnSpan } from '../conversation/turn-spans.ts';
import { hasFailed } from '../conversation/outcome.ts';

interface Common {
  /** Stable over time; folding by hand is stored under it. */
  readonly key: string;
  /** The event it stands for: the address of the row. */
  readonly id: number;
  /** UTC ISO 8601. */
  readonly at: string;
}

export interface TurnItem extends Common {
  readonly type: 'turn';
  readonly text: string;
  readonly images: readonly string[];
  /** The name of who wrote it, where the server has users. */
  readonly author?: string | undefined;
  readonly files: readonly string[];
}
export interface SpeechItem extends Common {
  readonly type: 'speech';
  readonly text: string;
}
/** An action and what it caused are one; either may stand alone. */
export interface StepItem extends Common {
  readonly type: 'step';
  readonly action?: Action;
  readonly observation?: Observation;
  readonly unknown?: UnknownEvent;
  /** What the model thought before the answer that begins here; such a step has nothing else. */
  readonly reasoning?: string;
  /** A person was asked first; `action` is what they decided about. */
  readonly wasAsked?: boolean;
  /** A person stopped the agent while it ran. */
  readonly wasStopped?: boolean;
  /** How many pauses of the provider in a row it stands for. */
  readonly attempts?: number;
}
export interface NoteItem extends Common {
  readonly type: 'note';
  readonly text: string;
}
/** Steps of a turn that is over, and the words before them, as one row. The last one is a step. */
export interface FoldItem extends Common {
  readonly type: 'fold';
  readonly rows: readonly (StepItem | SpeechItem)[];
}

/** Events that the server has and that are not loaded: those from `from` below `to`. */
export interface GapItem extends Common {
  readonly type: 'gap';
  readonly from: number;
  readonly to: number;
}

/** What a turn that is over has proven. */
export interface ReceiptItem extends Common {
  readonly type: 'receipt';
  readonly span: TurnSpan;
}

export type StreamItem = TurnItem | SpeechItem | StepItem | NoteItem | FoldItem | GapItem | ReceiptItem;

/** Whether the step ended badly. */
export function isFailure({ observation, wasStopped }: StepItem): boolean {
  return observation !== undefined && !wasStopped && hasFailed(observation);
}

export function isPending({ action, observation }: StepItem): boolean {
  return action !== undefined && observation === undefined;
}
