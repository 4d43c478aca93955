import type { Event, VolatileFrame } from '@tendon/protocol';

/** Facts about the run, known before it begins. */
export interface RunFacts {
  readonly conversationId: string;
  readonly model: string;
  /** What keeps the agent in, in words. */
  readonly sandbox: string;
  /** The folder on this machine. */
  readonly workspace: string;
}

/** Shows a run. Correctness comes from `event` alone; frames make it live. */
export interface Renderer {
  begin(facts: RunFacts): void;
  event(event: Event): void;
  frame(frame: VolatileFrame): void;
  /** A word of the program itself. */
  notice(text: string): void;
  end(): void;
}
