import fc from 'fast-check';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { closingFrame, FrameEnds } from './frame-ends.ts';

function frame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const short =
    length < 126
      ? [length]
      : length < 65_536
        ? [126, length >> 8, length & 255]
        : [127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...short]), payload]);
}

it('SV1211: however a stream is cut, it is between two frames exactly at their ends', () => {
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 130 }),
    fc.constantFrom(new Uint8Array(65_535), new Uint8Array(65_536), new Uint8Array(0)),
  );
  fc.assert(
    fc.property(fc.array(payload, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(200_000), { maxLength: 12 }), (payloads, cuts) => {
      const frames = payloads.map((one) => frame(2, one));
      const whole = Buffer.concat(frames);
      const ends = new Set([0]);
      for (const one of frames) ends.add(Math.max(...ends) + one.length);
      const points = [...cuts.filter((cut) => cut < whole.length), whole.length].toSorted((a, b) => a - b);
      const tracked = new FrameEnds();
      let from = 0;
      for (const point of points) {
        tracked.pass(whole.subarray(from, point));
        from = point;
        expect(tracked.isBetween).toBe(ends.has(point));
      }
      expect(tracked.isOver).toBe(false);
    }),
    { numRuns: runs(100) },
  );
});

it('SV1211: a closing frame ends the stream', () => {
  const tracked = new FrameEnds();
  tracked.pass(closingFrame(1012, 'connect again'));
  expect([tracked.isOver, tracked.isBetween]).toEqual([true, true]);
});
