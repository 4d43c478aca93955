import { existsSync, mkdirSync } from 'node:fs';
import type { ExecuteResult, Runtime, Runtimes } from '@tendon/core';
import { RunObservation } from '@tendon/protocol';
import type { SandboxPool } from '@tendon/runtime';
import { expect, it, onTestFinished } from 'vitest';
import { ownFolder } from '../../sandboxes/workspace-folder.ts';
import { systemClock } from '../../platform/system-clock.ts';
import { ConversationRecords } from '../conversation-records.ts';
import { conversationsWith, made } from '../conversations.test-support.ts';
import { IsolatedCopies } from './isolated-copies.ts';

const DONE = { ok: true, report: 'done', outputs: {}, costUsd: 0 } as const;

/** The copy of a conversation, in a sandbox whose commands end so. */
async function copyWith(execute: Runtime['execute']) {
  const { conversations, home, storage } = conversationsWith(60_000);
  onTestFinished(() => conversations.close());
  const parent = (await conversations.get(await made(conversations)))!;
  const copy = async ({ workspace }: { readonly workspace: string }): Promise<void> => void mkdirSync(workspace, { recursive: true });
  const child = await conversations.createDelegated(parent, { actionId: 7, agent: 'CodeActAgent', copy });
  const runtime = { workspace: '/workspace', incarnation: 'a', execute } as Runtime;
  const records = new ConversationRecords(storage.records, systemClock);
  const worksIn = async () => (await records.get(child.id))!.workspace;
  const stopped: string[] = [];
  const stop = async (): Promise<void> => void stopped.push(await worksIn());
  const pool = { acquire: async () => runtime, stop } as Partial<SandboxPool> as SandboxPool;
  const own: Runtimes = { ...pool, current: () => undefined };
  const committer = () => ({ name: 'tendon', email: 'tendon@localhost' });
  const copies = new IsolatedCopies({ parent, own, pool, records, clock: systemClock, committer, home });
  return { copies, parent, child, records, stopped, folder: ownFolder(home, child.id) };
}

const prints =
  (text: string): Runtime['execute'] =>
  async ({ id }, { onOutput }) => {
    onOutput?.({ text, offset: 0 } as never);
    const observation = RunObservation.create('', { command: '', metadata: { exit_code: 0 } } as never);
    return { outcome: 'observed', observation: { ...observation, cause: id } } as unknown as ExecuteResult;
  };

const { signal } = new AbortController();

it('EN951: a copy is not removed where what git printed about it was more than is read', async () => {
  const { copies, child, stopped, folder } = await copyWith(prints('x'.repeat(2 * 1024 ** 2)));
  expect(await copies.handOver(child, DONE, { signal })).toMatchObject({ report: expect.stringContaining('printed too much') as string });
  expect([existsSync(folder), stopped]).toEqual([true, []]);
});

it('EN952: a sandbox that begins while a copy is removed works in the folder above, and one that a kill has left ends', async () => {
  const { copies, parent, child, records, stopped, folder } = await copyWith(prints(''));
  await copies.handOver(child, DONE, { signal });
  expect([stopped, existsSync(folder)]).toEqual([[parent.workspace], false]);
  await copies.handOver((await records.get(child.id))!, DONE, { signal });
  expect(stopped).toHaveLength(2);
});

it('EN138: a stop does not wait for git in the sandbox of a copy', async () => {
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const { copies, child } = await copyWith(async (_action, asked) => {
    begun.resolve();
    await new Promise((_, reject) => asked.signal.addEventListener('abort', () => reject(new Error('cancelled'))));
    throw new Error('never');
  });
  const report = copies.handOver(child, DONE, { signal: stop.signal });
  await begun.promise;
  stop.abort();
  expect(await report).toBe(DONE);
});
