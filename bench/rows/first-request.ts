import type { Row } from '../row.ts';
import { create, run } from '../v0-client.ts';

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
