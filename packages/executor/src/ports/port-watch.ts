import { setTimeout as delay } from 'node:timers/promises';
import { countSockets, holdsAll, readListening, servedPorts, type ReachablePort } from './served-ports.ts';

/**
 * Knows what the agent's programs serve. Looks only when it is asked or followed; who holds which socket is looked up again only
 * when the list of what listens has changed.
 */
export interface PortWatch {
  /** Without what plugins listen on for themselves. */
  list(): Promise<readonly ReachablePort[]>;
  /** The list now, and whenever it has changed. */
  follow(signal: AbortSignal): AsyncIterable<readonly ReachablePort[]>;
  /** What can be connected to, plugins included. */
  find(port: number): Promise<ReachablePort | undefined>;
}

const POLL_MS = 1000;
/** As long as there are as many sockets as before, the list is read only every so many times: the kernel goes through all of its own for it. */
const POLLS_PER_READ = 5;
/** A process that just loses its parent can be missed: a new list is looked at more than once. */
const LOOKS = 3;
const LOOK_AGAIN_MS = 50;

export function createPortWatch(reserved: () => readonly number[]): PortWatch {
  let known: { readonly sign: string; readonly looks: number; readonly ports: readonly ReachablePort[] } = {
    sign: '',
    looks: 0,
    ports: [],
  };

  async function look(wanted?: number): Promise<readonly ReachablePort[]> {
    const sockets = await readListening();
    const sign = sockets.map(({ inode }) => inode).join();
    const isNew = sockets.some(({ port }) => port === wanted) && !known.ports.some(({ port }) => port === wanted);
    const looks = sign === known.sign ? known.looks : holdsAll(process.pid, sockets) ? LOOKS - 1 : 0;
    if (looks < LOOKS || isNew) known = { sign, looks: looks + 1, ports: servedPorts(sockets) };
    return known.ports;
  }

  async function find(wanted: number): Promise<ReachablePort | undefined> {
    for (let tries = 1; ; tries += 1) {
      const found = (await look(wanted)).find(({ port }) => port === wanted);
      if (found !== undefined || tries === LOOKS || !(await readListening()).some(({ port }) => port === wanted)) return found;
      await delay(LOOK_AGAIN_MS);
    }
  }

  async function list(): Promise<readonly ReachablePort[]> {
    const ports = await look();
    const hidden = reserved();
    return ports.filter(({ port }) => !hidden.includes(port));
  }

  return {
    list,
    find,
    async *follow(signal) {
      let sent = '';
      let counted: string | undefined;
      for (let polls = 0; !signal.aborted; polls += 1) {
        const count = await countSockets();
        if (count === undefined || count !== counted || known.looks < LOOKS || polls % POLLS_PER_READ === 0) {
          const ports = await list();
          const text = JSON.stringify(ports);
          if (text !== sent) yield ports;
          sent = text;
        }
        counted = count;
        await delay(POLL_MS, undefined, { signal }).catch(() => {}); // the loop sees it
      }
    },
  };
}
