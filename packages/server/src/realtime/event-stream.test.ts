import { openhandsV0, type NetworkFrame, type VolatileFrame } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { EventStream } from './event-stream.ts';
import { systemClock } from '../platform/system-clock.ts';
import { Unsent, type Wire } from './wire.ts';

const BEHIND = 100_000;
const asking = (host: string): NetworkFrame => ({ volatile: 'network', questions: [{ host, port: 443, asked_at: '' }] });

function streamTo(sent: VolatileFrame[]) {
  const closed = new AbortController();
  const unsent = new Unsent(closed.signal);
  const wire: Wire = {
    send() {},
    carriesVolatile: true,
    sendVolatile: (frame) => void sent.push(frame),
    unsent,
    pauseReading() {},
    resumeReading() {},
    close: () => closed.abort(),
    closed: closed.signal,
  };
  return { stream: new EventStream({ wire, dialect: openhandsV0, clock: systemClock, send() {} }), unsent };
}

it('SV451: a client that is behind gets the newest questions, once, when it has caught up', async () => {
  const sent: VolatileFrame[] = [];
  const { stream, unsent } = streamTo(sent);
  unsent.add(BEHIND);
  for (let at = 0; at < 50; at += 1) stream.show(asking(`n${at}.example`));
  expect(sent).toEqual([]);
  unsent.add(-BEHIND);
  await expect.poll(() => sent).toEqual([asking('n49.example')]);
  stream.show(asking('latest.example'));
  expect(sent).toEqual([asking('n49.example'), asking('latest.example')]);
});
