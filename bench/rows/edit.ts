import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findAgent, openConversation, type LlmProvider, type Runtime } from '@tendon/core';
import { createMask } from '@tendon/protocol/masking';
import { openSqliteStorage } from '@tendon/core/storage';
import { EditObservation, MessageAction } from '@tendon/protocol';
import { systemClock as clock } from '@tendon/server';
import { at } from '../at.ts';
import type { Row } from '../row.ts';

const FILE_KIB = 20;
const STEPS = 40;
/** The sync time of a cloud disk, or of a busy one. */
const SYNC_MS = 8;

/** In this process, because the disk is made slow in it. The sandbox answers at once: other rows measure it. */
export const edit: Row = {
  title: `one step that edits a file of ${FILE_KIB} KiB, every sync takes ${SYNC_MS} ms: model answer → next request, ms / syncs`,
  of: 'build',
  write: ([syncs, ...times]) => `${at(times, 0.5).toFixed(0)} / ${syncs}`,
  async measure(_build, { home }) {
    const disk = await slowDisk(join(home, 'probe'));
    const storage = await openSqliteStorage({ path: join(home, 'edit/t.db'), blobDir: join(home, 'edit/blobs'), clock });
    const times: number[] = [];
    const syncs: number[] = [];
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let answered: { at: number; syncs: number } | undefined;
    const provider: LlmProvider = {
      ...{ model: 'bench', contextWindow: undefined, scripted: true },
      async *stream() {
        if (answered) {
          times.push(performance.now() - answered.at);
          syncs.push(disk.count() - answered.syncs);
        }
        if (times.length === STEPS) return end();
        const call = { id: `call-${times.length}`, name: 'str_replace_editor', arguments: JSON.stringify(editOf(times.length)) };
        const usage = { inputTokens: 10, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
        const answer = { id: `answer-${times.length}`, model: 'bench', text: '', toolCalls: [call], usage, costUsd: 0, latencyMs: 0 };
        answered = { at: performance.now(), syncs: disk.count() };
        yield { type: 'done', answer: { ...answer, finishReason: 'tool_calls' } };
      },
    };
    const runtime = editing(times);
    const conversation = await openConversation({
      ...{ id: 'c', log: await storage.events.open('c'), agent: findAgent(undefined) },
      llm: async () => provider,
      sandbox: { runtimes: { acquire: async () => runtime, current: () => runtime, stop: async () => undefined } },
      settings: {},
      host: { clock, mask: createMask([]) },
    });
    await conversation.submit(MessageAction.create({ content: 'go on' }));
    await ended;
    await conversation.close();
    await storage.close();
    disk.restore();
    return [at(syncs, 0.5), ...times];
  },
};

const fileAfter = (step: number): string =>
  Array.from({ length: FILE_KIB * 16 }, (_, line) => `${line <= step ? 'new' : 'old'} line ${line} of the file ${'.'.repeat(40)}`)
    .map((line) => `${line.slice(0, 63)}\n`)
    .join('');

function editOf(step: number): object {
  return { command: 'str_replace', path: '/workspace/a.ts', old_str: `old line ${step} of`, new_str: `new line ${step} of` };
}

/** What the executor answers: the file before and after, and a part of it. */
function editing(done: readonly unknown[]): Runtime {
  const none = () => Promise.reject(new Error('there are no files here'));
  return {
    ...{ incarnation: 'bench', strength: 'none', description: '', workspace: '/workspace', lost: new Promise<string>(() => undefined) },
    execute: async () => {
      const [before, after] = [fileAfter(done.length - 1), fileAfter(done.length)];
      const args = { path: '/workspace/a.ts', prev_exist: true, old_content: before, new_content: after, diff: after.slice(0, 2_000) };
      return { outcome: 'observed', observation: EditObservation.create(after.slice(0, 2_000), { ...args, impl_source: 'oh_aci' }) };
    },
    output: async () => undefined,
    files: { list: none, read: none, write: none, checkpoints: none, compareCheckpoint: none, checkpointFile: none, linesToEdit: none },
  };
}

/** Every sync of this process through a `FileHandle` is counted and takes longer. */
async function slowDisk(path: string): Promise<{ count(): number; restore(): void }> {
  const probe = await open(path, 'w');
  const handle = Object.getPrototypeOf(probe) as Pick<FileHandle, 'sync' | 'datasync'>;
  await probe.close();
  await rm(path);
  const { sync, datasync } = handle;
  let count = 0;
  const slow = (real: () => Promise<void>) =>
    async function (this: FileHandle): Promise<void> {
      count += 1;
      await sleep(SYNC_MS);
      await real.call(this);
    };
  Object.assign(handle, { sync: slow(sync), datasync: slow(datasync) });
  return { count: () => count, restore: () => void Object.assign(handle, { sync, datasync }) };
}
