import type { Clock } from '@tendon/core';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Frames, testServer, type WireFrame } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';
import { CLIENT_TIMEOUTS } from '../platform/http/client-timeouts.ts';

/** Heartbeats wait until the test ends the time. */
function heldClock(): { readonly clock: Clock; readonly beat: () => void } {
  let held: (() => void)[] = [];
  const clock: Clock = {
    now: () => systemClock.now(),
    sleep: (ms, options) => (ms === CLIENT_TIMEOUTS.pingMs ? new Promise((resolve) => held.push(resolve)) : systemClock.sleep(ms, options)),
  };
  const beat = () => {
    const due = held;
    held = [];
    for (const resolve of due) resolve();
  };
  return { clock, beat };
}

it('SV22: who gives no sign of life is let go, who does stays', async () => {
  const { clock, beat } = heldClock();
  const server = await testServer({ clock });
  const url = `${server.url.replace('http', 'ws')}/ws`;
  const alive = new WebSocket(url);
  const frames = new Frames();
  let pings = 0;
  alive.on('ping', () => (pings += 1));
  alive.on('message', (data: Buffer) => frames.take(JSON.parse(data.toString()) as WireFrame));
  const mute = new WebSocket(url, { autoPong: false });
  const gone = new Promise((resolve) => mute.once('close', resolve));
  await new Promise((resolve) => mute.once('message', resolve));

  for (let round = 1; round <= 3; round++) {
    await expect.poll(() => pings).toBe(round);
    // The answer to this frame shows that the pong before it has arrived.
    alive.send(JSON.stringify({ action: `round-${round}` }));
    await frames.until((frame) => String(frame.message).includes(`round-${round}`));
    beat();
  }
  await gone;
  await expect.poll(() => pings).toBe(4);
  expect(alive.readyState).toBe(alive.OPEN);
  alive.terminate();
});
