import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { plainClient, systemClockThat, testServer } from '../server.test-support.ts';
import { HEARTBEAT_MS } from './expect-life.ts';

it('SV22: who gives no sign of life is let go, who does stays', async () => {
  let beats = 0;
  const clock = systemClockThat((ms) => {
    if (ms !== HEARTBEAT_MS) return ms;
    beats += 1;
    return 20;
  });
  const server = await testServer({ clock });
  const alive = await plainClient(server);
  const mute = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, { autoPong: false });
  await new Promise((resolve) => mute.once('close', resolve));
  const before = beats;
  await expect.poll(() => beats).toBeGreaterThan(before + 3);
  expect(alive.socket.readyState).toBe(alive.socket.OPEN);
});
