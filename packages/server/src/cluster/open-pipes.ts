/**
 * Owns the open requests and sockets to other servers.
 *
 * OP1  Pipes to a server that has ended or stood down are cut within `LOOK_MS`, because a frozen server keeps its connections open.
 * OP2  While the list of servers cannot be read, nothing is cut.
 * OP3  The list may lag behind a new server: pipes to a server that was never listed are cut only after `UNSEEN_LOOKS`.
 */
import type { Scheduler, ServerNode } from '@tendon/core';

/** `gone`: the other server has ended. `leaving`: this one is stopping. */
export type Cut = (why: 'gone' | 'leaving') => void;

const LOOK_MS = 500;
const UNSEEN_LOOKS = 6;

interface PeerPipes {
  readonly cuts: Set<Cut>;
  /** How many lists did not have this server; -1 once one has had it. */
  unseen: number;
}

export class OpenPipes {
  readonly #scheduler: Pick<Scheduler, 'servers'>;
  readonly #open = new Map<string, PeerPipes>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(scheduler: Pick<Scheduler, 'servers'>) {
    this.#scheduler = scheduler;
  }

  /** Returns a function to call when the pipe has ended. */
  add({ id }: ServerNode, cut: Cut): () => void {
    const peer = this.#open.get(id) ?? { cuts: new Set(), unseen: 0 };
    peer.cuts.add(cut);
    this.#open.set(id, peer);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    return () => {
      if (peer.cuts.delete(cut) && peer.cuts.size === 0 && this.#open.get(id) === peer) this.#open.delete(id);
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
    for (const [id, peer] of this.#open) {
      if (servers.some((one) => one.id === id)) peer.unseen = -1;
      else if (peer.unseen < 0 || (peer.unseen += 1) >= UNSEEN_LOOKS) for (const cut of peer.cuts) cut('gone');
    }
  }
}
