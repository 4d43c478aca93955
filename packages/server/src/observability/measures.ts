import type { KeyedSemaphore } from '@tendon/core';
import { type AgentState, AGENT_STATES } from '@tendon/protocol';
import { gauge, type Instrument, type Sample } from '../platform/exposition.ts';
import { LogMeasures } from './log-measures.ts';
import { ModelMeasures, placesInstruments } from './model-measures.ts';
import { SandboxMeasures } from './sandbox-measures.ts';

/** What the engine of a server counts, for `/metrics`. It stands around the engine's parts, which know nothing of it. */
export class Measures {
  readonly log = new LogMeasures();
  readonly models = new ModelMeasures();
  readonly sandboxes = new SandboxMeasures();
  #watched: readonly Instrument[] = [];

  /** Figures that are read when somebody asks; once, when there is an engine. */
  watch({ places, states, others }: WatchedEngine): void {
    this.#watched = [
      gauge('tendon_conversations', 'Conversations in memory, by the state of their agent', () => byState(states())),
      ...placesInstruments(places),
      ...others.flatMap((one) => one?.instruments ?? []),
    ];
  }

  get instruments(): readonly Instrument[] {
    return [...this.log.instruments, ...this.models.instruments, ...this.sandboxes.instruments, ...this.#watched];
  }
}

interface WatchedEngine {
  readonly places: KeyedSemaphore;
  /** Of the open conversations. */
  readonly states: () => Iterable<AgentState>;
  /** Parts that count for themselves. */
  readonly others: readonly ({ readonly instruments: readonly Instrument[] } | undefined)[];
}

function byState(states: Iterable<AgentState>): readonly Sample[] {
  const counts = new Map<AgentState, number>(AGENT_STATES.map((state) => [state, 0]));
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, value]) => ({ labels: { state }, value }));
}
