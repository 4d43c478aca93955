import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../row.ts';
import { start } from '../target.ts';
import { configure, create, run } from '../v0-client.ts';

const FOLDERS = 2_500;
const FILES = 20;
const STEPS = 20;

/** What a step costs with checkpoints, less what it costs without: each changes one file of the workspace. */
export const checkpoint: Row = {
  title: `checkpoint before a step in a workspace of ${FOLDERS * FILES} files, one of them changed, ms`,
  of: 'build',
  async measure(build, { home, model }) {
    const workspace = join(home, 'checkpoints/workspace');
    for (let folder = 0; folder < FOLDERS; folder++) {
      const path = join(workspace, `part-${folder % 50}/folder-${folder}`);
      mkdirSync(path, { recursive: true });
      for (let file = 0; file < FILES; file++)
        writeFileSync(join(path, `file-${file}.ts`), `export const value = ${folder * FILES + file};\n`);
    }
    const times = { on: [] as number[], off: [] as number[] };
    for (const setting of ['off', 'on'] as const) {
      const target = build.server(join(home, 'checkpoints', setting), { WORKSPACE_BASE: workspace, SANDBOX_CHECKPOINTS: setting });
      const running = await start(target);
      await configure(target.url, model.url);
      const conversation = await create(target.url);
      await run(conversation, 'BENCH:2:date +%N > part-1/folder-1/file-1.ts; echo {i}');
      model.reset();
      await run(conversation, `BENCH:${STEPS}:date +%N > part-1/folder-1/file-1.ts; echo {i}`);
      const turns = model.requests.filter(({ hasTools }) => hasTools);
      if (turns.length <= STEPS) throw new Error(`the model was asked ${turns.length} times for ${STEPS} steps`);
      times[setting] = turns.slice(1).map((turn, i) => turn.arrived - (turns[i]?.answered ?? Number.NaN));
      conversation.socket.close();
      await running.stop();
    }
    const without = times.off.toSorted((a, b) => a - b)[Math.floor(times.off.length / 2)] ?? 0;
    return times.on.map((time) => Math.max(0, time - without));
  },
};
