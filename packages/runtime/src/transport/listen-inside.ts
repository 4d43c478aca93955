import { once } from 'node:events';
import { chmod, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { basename, dirname, join } from 'node:path';

/**
 * Listens on a unix socket for who is in a sandbox, in place of what a server before this one left there. The sandbox may have another
 * uid: it is the folder of the socket that keeps others out. The process does not stay for it. A server that stops listening removes the
 * name at which it began: that is never the one in use, which may be the next server's by then.
 */
export async function listenInside(server: Server, socketPath: string): Promise<void> {
  const begun = join(dirname(socketPath), `${basename(socketPath)[0]}${process.pid}`);
  await rm(begun, { force: true });
  server.listen(begun);
  await once(server, 'listening');
  server.unref();
  await chmod(begun, 0o666);
  await rename(begun, socketPath);
}
