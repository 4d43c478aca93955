import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';

/** Reports to the watcher of a sandbox that a connection waits under this name. */
export type Say = (id: string) => void;

interface Call {
  readonly incarnation: string;
  readonly connected: PromiseWithResolvers<Socket>;
}

const ANSWER_MS = 15_000;
const MAX_WAITING = 64;

/**
 * Connections from within the sandboxes of this host to the servers that they belong to. This host cannot reach a server, so the
 * server, which watches its sandbox, gets a name and comes for it. Owns the calls that wait, and nobody's connection.
 *
 * SCA1  A call is answered once, by the server of exactly its sandbox; the name of another sandbox is refused.
 * SCA2  It waits for a bounded time, also for a server that is being restarted.
 */
export class SandboxCalls {
  readonly #waiting = new Map<string, Call>();
  readonly #watchers = new Map<string, Set<Say>>();
  readonly #answerMs: number;

  constructor({ answerMs = ANSWER_MS }: { readonly answerMs?: number } = {}) {
    this.#answerMs = answerMs;
  }

  /** Says what waits now and what comes, until the function that is given back is called. */
  watch(incarnation: string, say: Say): () => void {
    const watchers = this.#watchers.get(incarnation) ?? new Set();
    this.#watchers.set(incarnation, watchers.add(say));
    for (const [id, call] of this.#waiting) if (call.incarnation === incarnation) say(id);
    return () => {
      watchers.delete(say);
      if (watchers.size === 0 && this.#watchers.get(incarnation) === watchers) this.#watchers.delete(incarnation);
    };
  }

  /** A connection to the server of that sandbox. Rejects with a user-facing error inside it. */
  async open(incarnation: string, signal: AbortSignal): Promise<Socket> {
    if (this.#waitingFor(incarnation) >= MAX_WAITING) throw new Error('there are too many connections at a time');
    const id = randomBytes(16).toString('hex');
    const call: Call = { incarnation, connected: Promise.withResolvers() };
    const giveUp = (): void =>
      call.connected.reject(new Error('the Tendon server, which keeps the tokens for git, does not answer; try again'));
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(this.#answerMs)]);
    deadline.addEventListener('abort', giveUp, { once: true });
    this.#waiting.set(id, call);
    for (const say of this.#watchers.get(incarnation) ?? []) say(id);
    try {
      return await call.connected.promise;
    } finally {
      deadline.removeEventListener('abort', giveUp);
      this.#waiting.delete(id);
    }
  }

  /** Who comes for it; nothing when nobody waits under that name (any more). */
  take(incarnation: string, id: string): ((server: Socket) => void) | undefined {
    const call = this.#waiting.get(id);
    if (call?.incarnation !== incarnation) return undefined;
    this.#waiting.delete(id);
    return call.connected.resolve;
  }

  #waitingFor(incarnation: string): number {
    return [...this.#waiting.values()].filter((call) => call.incarnation === incarnation).length;
  }
}
