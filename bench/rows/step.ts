import type { Row } from '../row.ts';
import { create, run } from '../v0-client.ts';

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
