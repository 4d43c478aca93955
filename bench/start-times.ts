import { never, type TestSandboxes } from '@tendon/runtime/testing';

/** Milliseconds from asking for a sandbox until its executor answers. The first is left out: it looks into machine and image, once for a server. */
export async function startTimes({ runtimes }: TestSandboxes, rounds: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    await runtimes.acquire(`round ${round}`, { signal: never });
    if (round > 0) times.push(performance.now() - started);
    await runtimes.stop(`round ${round}`);
  }
  return times;
}
