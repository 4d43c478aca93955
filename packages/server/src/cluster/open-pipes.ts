/**
 * Owns what leads to other servers now: requests under way and sockets.
 *
 * P1  What leads to a server that is alive no more, or has stood down, is cut within `LOOK_MS`: a frozen server keeps its connections open.
 * P2  While the servers cannot be asked for, nothing is cut.
 */
import type { Scheduler, ServerNode } from '@tendon/core';

/** `gone`: of the server that it leads to. `leaving`: of this one. */
export type Cut = (why: 'gone' | 'leaving') => void;

const LOOK_MS = 500;

export class OpenPipes {
  readonly #scheduler: Pick<Scheduler, 'servers'>;
  readonly #open = new Map<string, Set<Cut>>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(scheduler: Pick<Scheduler, 'servers'>) {
    this.#scheduler = scheduler;
  }

  /** The returned function says that it has ended. */
  add({ id }: ServerNode, cut: Cut): () => void {
    const cuts = this.#open.get(id) ?? new Set();
    this.#open.set(id, cuts.add(cut));
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    return () => {
      if (cuts.delete(cut) && cuts.size === 0 && this.#open.get(id) === cuts) this.#open.delete(id);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  close(): void {
    for (const cuts of this.#open.values()) for (const cut of cuts) cut('leaving');
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const servers = await this.#scheduler.servers().catch(() => undefined);
    this.#isLooking = false;
    if (servers === undefined) return;
    for (const [id, cuts] of this.#open) if (!servers.some((one) => one.id === id)) for (const cut of cuts) cut('gone');
  }
}
