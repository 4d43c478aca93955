import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a port of this machine that can be cut. */
export interface Line {
  readonly port: number;
  /** Breaks what passes, and lets nothing pass. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

export async function openLine(to: number): Promise<Line> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(into);
      from.on('error', () => into.destroy());
      from.once('close', () => {
        open.delete(from);
        into.destroy();
      });
    }
  });
  const port = await listen(server, 0);
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  return { port, cut, close: cut, mend: async () => void (await listen(server, port)) };
}

async function listen(server: Server, port: number): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
