/** What a process of Node holds when everything that nobody needs has gone: asked through its inspector. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** For the environment of the process: lets `heapBytes` ask it. */
export function inspectable(port: number): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` };
}

/** Heap and buffers after a collection, as the inspector at this port says. */
export async function heapBytes(port: number): Promise<number> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as [{ readonly webSocketDebuggerUrl: string }];
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  try {
    // What ends asynchronously is collected by the second one.
    for (let round = 0; round < 2; round++) {
      await ask(socket, 'HeapProfiler.collectGarbage');
      await pause(500);
    }
    const { result } = await ask(socket, 'Runtime.evaluate', { expression: 'process.memoryUsage()', returnByValue: true });
    const { heapUsed, external } = (result as { readonly value: { readonly heapUsed: number; readonly external: number } }).value;
    return heapUsed + external;
  } finally {
    socket.terminate();
  }
}

let nextId = 0;

function ask(socket: WebSocket, method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
  const id = nextId++;
  const answered = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    const take = (data: Buffer): void => {
      const answer = JSON.parse(data.toString()) as { readonly id?: number; readonly result: Readonly<Record<string, unknown>> };
      if (answer.id !== id) return;
      socket.off('message', take);
      resolve(answer.result);
    };
    socket.on('message', take);
  });
  socket.send(JSON.stringify({ id, method, params }));
  return answered;
}
