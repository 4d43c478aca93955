import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import type { Server } from 'node:net';

/**
 * Listens on a unix socket for who is in a sandbox, in place of what a server before this one left there. The sandbox may have another
 * uid: it is the folder of the socket that keeps others out. The process does not stay for it.
 */
export async function listenInside(server: Server, socketPath: string): Promise<void> {
  await rm(socketPath, { force: true });
  server.listen(socketPath);
  await once(server, 'listening');
  server.unref();
  await chmod(socketPath, 0o666);
}
