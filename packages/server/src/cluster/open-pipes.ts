/**
 * Owns what leads to other servers now: requests under way and sockets.
 *
 * OP1  What leads to a server that is alive no more, or has stood down, is cut within `LOOK_MS`: a frozen server keeps its connections open.
 * OP2  While the servers cannot be asked for, nothing is cut.
 * OP3  The list of servers may be older than one of them: what leads to a server that was never in it is cut only after `UNSEEN_LOOKS`.
 */
import type { Scheduler, ServerNode } from '@tendon/core';

/** `gone`: of the server that it leads to. `leaving`: of this one. */
export type Cut = (why: 'gone' | 'leaving') => void;

const LOOK_MS = 500;
const UNSEEN_LOOKS = 6;

interface Led {
  readonly cuts: Set<Cut>;
  /** Looks at lists without this server; -1: it was in one. */
  unseen: number;
}

export class OpenPipes {
  readonly #scheduler: Pick<Scheduler, 'servers'>;
  readonly #open = new Map<string, Led>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(scheduler: Pick<Scheduler, 'servers'>) {
    this.#scheduler = scheduler;
  }

  /** The returned function says that it has ended. */
  add({ id }: ServerNode, cut: Cut): () => void {
    const led = this.#open.get(id) ?? { cuts: new Set(), unseen: 0 };
    led.cuts.add(cut);
    this.#open.set(id, led);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    return () => {
      if (led.cuts.delete(cut) && led.cuts.size === 0 && this.#open.get(id) === led) this.#open.delete(id);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  close(): void {
    for (const { cuts } of this.#open.values()) for (const cut of cuts) cut('leaving');
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const servers = await this.#scheduler.servers().catch(() => undefined);
    this.#isLooking = false;
    if (servers === undefined) return;
    for (const [id, led] of this.#open) {
      if (servers.some((one) => one.id === id)) led.unseen = -1;
      else if (led.unseen < 0 || (led.unseen += 1) >= UNSEEN_LOOKS) for (const cut of led.cuts) cut('gone');
    }
  }
}
