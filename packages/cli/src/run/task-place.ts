import type { Event } from '@tendon/protocol';
import type { Follower } from '../attach/follow-connection.ts';
import type { RunFacts } from './renderer.ts';

/** What a user may choose for one conversation; without a choice the settings decide. */
export interface TaskChoices {
  readonly model?: string | undefined;
  readonly agent?: string | undefined;
  /** What runs without being asked about: nothing, what is not risky, everything. */
  readonly approve?: 'never' | 'low' | 'all' | undefined;
  /** US dollars. */
  readonly budget?: number | undefined;
  readonly maxSteps?: number | undefined;
  /** In a copy of the folder. */
  readonly worktree?: boolean;
}

export const POLICIES = { never: 'always', low: 'risk', all: 'never' } as const;

/** A conversation that one task is given to, wherever its engine is. What fails is an Error whose message can be shown. */
export interface TaskPlace extends AsyncDisposable {
  readonly facts: RunFacts;
  /** Sends the task under an id that its event carries back. */
  submit(task: string, options: { readonly clientId: string; readonly imageUrls: readonly string[] }): Promise<void>;
  /** Reports all events, and what is shown and forgotten; the returned function ends it. */
  follow(to: Follower): () => void;
  /** Asks the agent to stop; false when that was refused. */
  stop(): Promise<boolean>;
  /**
   * The last call: nothing that the agent started is left running here. With `forced` aborted it does not wait; an action that `waits` for a
   * decision still waits afterwards.
   */
  leave(options: { readonly forced: AbortSignal; readonly waits: boolean }): Promise<void>;
  /** In the Agent Trajectory Interchange Format. */
  atif(): AsyncIterable<string | Uint8Array>;
}

/** Whether the event is the task itself. */
export function isTask(event: Event, clientId: string): boolean {
  return 'action' in event && event.action === 'message' && event.client_id === clientId;
}
