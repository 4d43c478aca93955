import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { SandboxCalls } from './sandbox-calls.ts';

const never = new AbortController().signal;

describe('SB153: a call from within a sandbox to its server', () => {
  it('is reported to the watcher of that sandbox, now or soon, and answered once', async () => {
    const calls = new SandboxCalls();
    const reported: string[] = [];
    const others: string[] = [];
    calls.watch('a', (id) => reported.push(id));
    calls.watch('b', (id) => others.push(id));
    const first = calls.open('a', never);
    const later: string[] = [];
    const stop = calls.watch('a', (id) => later.push(id));
    expect([reported.length, others.length]).toEqual([1, 0]);
    expect(later).toEqual(reported);
    const answer = calls.take('a', reported[0]!)!;
    expect(calls.take('a', reported[0]!)).toBeUndefined();
    const socket = new Socket();
    answer(socket);
    expect(await first).toBe(socket);
    stop();
    void calls.open('a', never).catch(() => undefined);
    expect([reported.length, later.length]).toEqual([2, 1]);
  });

  it('is nobody else’s: not another sandbox’s, and under no name that was not reported', async () => {
    const calls = new SandboxCalls();
    let id = '';
    calls.watch('a', (name) => void (id = name));
    const open = calls.open('a', never);
    expect(calls.take('b', id)).toBeUndefined();
    expect(calls.take('a', '0'.repeat(32))).toBeUndefined();
    calls.take('a', id)!(new Socket());
    await open;
  });

  it('is given up in words after a while, or with who asked; what comes too late opens nothing', async () => {
    const calls = new SandboxCalls({ answerMs: 1 });
    let id = '';
    calls.watch('a', (name) => void (id = name));
    await expect(calls.open('a', never)).rejects.toThrow(/the Tendon server, which keeps the tokens for git, does not answer/);
    expect(calls.take('a', id)).toBeUndefined();
    const gone = new AbortController();
    const open = new SandboxCalls().open('a', gone.signal);
    gone.abort();
    await expect(open).rejects.toThrow(/does not answer/);
  });

  it('does not pile up', async () => {
    const calls = new SandboxCalls();
    const gone = new AbortController();
    const open = Array.from({ length: 64 }, () => calls.open('a', gone.signal));
    await expect(calls.open('a', never)).rejects.toThrow(/too many/);
    void calls.open('b', gone.signal).catch(() => undefined);
    gone.abort();
    await Promise.allSettled(open);
  });
});
