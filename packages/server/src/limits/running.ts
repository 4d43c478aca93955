/**
 * Owns which conversations of this server are at work, and the queue of those that wait for a place. Does not own what they do.
 *
 * RN1  At most `maxRunning` conversations are at work. An agent and the agents that it delegates to share one place, so they cannot
 *      deadlock waiting for each other's.
 * RN2  Waiting conversations take turns by party: a party with a hundred of them does not delay the others.
 * RN3  A conversation that is stopped while it waits leaves the queue at once; one whose agent rests gives its place back. All of this is
 *      in memory and ends with the server.
 * RN4  At most `maxWaiting` conversations of a party wait; more are refused.
 */
import { KeyedSemaphore, withLogMethods, withStream, type EventLog, type LlmProvider, type Release } from '@tendon/core';
import { isActive, isObservation, type AgentState, type Event } from '@tendon/protocol';
import type { Party } from './party.ts';

export interface Work {
  readonly id: string;
  /** The conversation at the top of the chain of delegations. */
  readonly rootId: string;
  readonly party: Party;
}

interface Group {
  readonly release: Release;
  readonly members: Set<string>;
}

const ALL = 'all';

export class Running {
  readonly #places: KeyedSemaphore;
  readonly #maxWaiting: number;
  readonly #groups = new Map<string, Group>();
  /** By root, including those that wait. */
  readonly #atWork = new Map<string, Party>();
  /** The root of each conversation that has begun. */
  readonly #rootOf = new Map<string, string>();

  constructor({ maxRunning = Infinity, maxWaiting }: { readonly maxRunning: number | undefined; readonly maxWaiting: number }) {
    this.#places = new KeyedSemaphore(maxRunning);
    this.#maxWaiting = maxWaiting;
  }

  totals(): { readonly taken: number; readonly waiting: number } {
    return this.#places.totals();
  }

  /** The groups that are at work or wait for a place, with the party of each. */
  atWork(): Iterable<readonly [rootId: string, party: Party]> {
    return this.#atWork;
  }

  isAtWork(rootId: string): boolean {
    return this.#atWork.has(rootId);
  }

  /** Whether the queue is full for this party, counting conversations that have begun but not yet made their first request. */
  isFull({ name }: Party): boolean {
    const { limit } = this.#places;
    if (limit === Infinity) return false;
    const placeless = [...this.#atWork].filter(([rootId]) => !this.#groups.has(rootId));
    const waiting = placeless.length - (limit - this.#places.totals().taken);
    return Math.min(waiting, placeless.filter(([, party]) => party.name === name).length) >= this.#maxWaiting;
  }

  /** The conversation counts as at work from now on, until its agent rests. */
  begin({ id, rootId, party }: Work): void {
    this.#rootOf.set(id, rootId);
    this.#atWork.set(rootId, party);
  }

  /** Called when the agent rests or the conversation is closed. */
  rested(id: string): void {
    const rootId = this.#rootOf.get(id);
    if (rootId === undefined) return;
    this.#rootOf.delete(id);
    const group = this.#groups.get(rootId);
    group?.members.delete(id);
    if (group && group.members.size > 0) return;
    this.#groups.delete(rootId);
    group?.release();
    if (![...this.#rootOf.values()].includes(rootId)) this.#atWork.delete(rootId);
  }

  /** A provider whose first request waits for a place, and reports how many conversations are ahead. */
  admitted(work: Work, provider: LlmProvider, isWorking: () => boolean): LlmProvider {
    const { name } = work.party;
    const tryEnter = (): boolean => this.#tryEnter(work);
    const enter = (signal: AbortSignal): Promise<boolean> => this.#enter(work, signal);
    const rested = (): void => this.rested(work.id);
    const queued = () => ({
      type: 'queued' as const,
      ahead: this.#places.ahead(ALL, name),
      limit: this.#places.limit,
      at: 'server' as const,
    });
    return withStream(provider, async function* (request, options) {
      if (!tryEnter()) {
        // Both in one tick, so that the position in the notice is right.
        const [notice, entering] = [queued(), enter(options.signal)];
        let isIn = false;
        try {
          yield notice;
          isIn = await entering;
        } finally {
          if (!isIn) void entering.then((isLate) => isLate && rested());
        }
        if (!isIn) return;
        yield { type: 'admitted' };
      }
      try {
        yield* provider.stream(request, options);
      } finally {
        // A side question does not change the agent's state, so nothing else releases its place.
        if (!isWorking()) rested();
      }
    });
  }

  /** A log that reports when the agent rests. */
  watched(work: Work, log: EventLog): EventLog {
    return withLogMethods(log, {
      append: async (drafts, options) => {
        const events = await log.append(drafts, options);
        const state = events.map(newState).findLast((one) => one !== undefined);
        if (state !== undefined && !isActive(state)) this.rested(work.id);
        return events;
      },
    });
  }

  /** False when the conversation has to wait. */
  #tryEnter(work: Work): boolean {
    this.begin(work);
    const group = this.#groups.get(work.rootId);
    const free = group ? undefined : this.#places.tryAcquire(ALL);
    group?.members.add(work.id);
    return group !== undefined || (free !== undefined && this.#hold(work, free));
  }

  /** False when the signal aborted first. */
  async #enter(work: Work, signal: AbortSignal): Promise<boolean> {
    const release = await this.#places.acquire(ALL, signal, work.party.name);
    return release !== undefined && this.#hold(work, release);
  }

  #hold({ id, rootId }: Work, release: Release): true {
    const group = this.#groups.get(rootId);
    // Another member of the group got a place first.
    if (group) release();
    const { members } = group ?? { members: new Set<string>() };
    members.add(id);
    if (!group) this.#groups.set(rootId, { release, members });
    return true;
  }
}

function newState(event: Event): AgentState | undefined {
  if (!isObservation(event) || event.observation !== 'agent_state_changed') return undefined;
  return event.extras.agent_state;
}
