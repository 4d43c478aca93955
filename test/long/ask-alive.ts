/** A thread that asks `/alive` until it is sent a message, and then says how many milliseconds each answer took: the tests' own thread is busy with what clients are sent. */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const BETWEEN_MS = 3;

const { url } = workerData as { readonly url: string };
const asking = { isDone: false };
parentPort!.once('message', () => (asking.isDone = true));
const times: number[] = [];
while (!asking.isDone) {
  const asked = performance.now();
  const { ok } = await fetch(`${url}/alive`);
  if (!ok) throw new Error('/alive is not well');
  times.push(performance.now() - asked);
  await pause(BETWEEN_MS);
}
parentPort!.postMessage(times, []);
