import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what the system gives out by itself: while a server that was killed is down, nobody else may be given its port. */
const FIRST = 10_000;
const COUNT = 20_000;

let next = process.pid * 101;

/** A loopback port for a server that is started more than once. */
export async function freePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % COUNT;
    const port = FIRST + next; // another caller moves on while this one is being looked at
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
