import type { Row } from '../row.ts';
import { create, run } from '../v0-client.ts';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const STEPS = 60;

/** From the end of the model's answer to the arrival of the next request: append, sandboxed command, append, projection. */
export const step: Row = {
  title: 'one step: model answer → next model request, `true` in the shell, ms',
  of: 'server',
  async measure({ url }, { model, rounds }) {
    const conversation = await create(url);
    await run(conversation, 'BENCH:1:true {i}');
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      model.reset();
      await run(conversation, `BENCH:${STEPS}:true {i}`);
      const turns = model.requests.filter(({ hasTools }) => hasTools);
      times.push(...turns.slice(1).map((turn, i) => turn.arrived - (turns[i]?.answered ?? Number.NaN)));
    }
    conversation.socket.close();
    return times;
  },
};

/** Of a new conversation each time: every later request carries what came before it. */
export const firstRequest: Row = {
  title: 'first request to the model, bytes',
  of: 'server',
  async measure({ url }, { model, rounds }) {
    const sizes: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const conversation = await create(url);
      model.reset();
      await run(conversation, 'BENCH:0:true');
      const first = model.requests.find(({ hasTools }) => hasTools);
      if (!first) throw new Error('the model was not asked');
      sizes.push(first.bytes);
      conversation.socket.close();
    }
    return sizes;
  },
};

const WRITES = 200;
const PAGE = Buffer.alloc(4096);

/** What one durable write costs here, so that the step can be read against it. */
export const diskSync: Row = {
  title: '  beside it: one fdatasync on this disk, ms',
  of: 'build',
  async measure(_build, { home }) {
    const fd = openSync(join(home, 'sync-probe'), 'w');
    const times = Array.from({ length: WRITES }, (_, i) => {
      writeSync(fd, PAGE, 0, PAGE.length, i * PAGE.length);
      const started = performance.now();
      fdatasyncSync(fd);
      return performance.now() - started;
    });
    closeSync(fd);
    return times;
  },
};
