import { describe, expect, it } from 'vitest';
import { admission } from './shared-start.ts';

const never = new AbortController().signal;

describe('admission', () => {
  it('SB4: runs at most as many at a time as allowed, in order', async () => {
    const admit = admission(2);
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const begun: number[] = [];
    const thirdBegins = Promise.withResolvers<void>();
    const all = gates.map((gate, index) =>
      admit(async () => {
        begun.push(index);
        if (index === 2) thirdBegins.resolve();
        await gate.promise;
      }, never),
    );
    expect(begun).toEqual([0, 1]);
    gates[1]?.resolve();
    await all[1];
    await thirdBegins.promise;
    expect(begun).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    await Promise.all(all);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  it('SB4: who gives up leaves the queue, and a failure frees its place', async () => {
    const admit = admission(1);
    const gate = Promise.withResolvers<void>();
    const first = admit(() => gate.promise, never);
    const controller = new AbortController();
    const second = admit(async () => 'never', controller.signal);
    const third = admit(async () => 'third', never);
    controller.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    gate.reject(new Error('failed'));
    await expect(first).rejects.toThrow('failed');
    expect(await third).toBe('third');
  });
});
