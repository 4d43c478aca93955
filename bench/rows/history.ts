import type { Row } from '../row.ts';
import { create, lastId, replay, run } from '../v0-client.ts';

const EVENTS = 2000;
const STEPS_AT_ONCE = 200;

export const history: Row = {
  title: `history of ${EVENTS} events to a connecting client, ms`,
  of: 'server',
  async measure({ url }, { rounds }) {
    const conversation = await create(url);
    const missing = (): number => EVENTS - lastId(conversation);
    while (missing() > 0) await run(conversation, `BENCH:${Math.min(STEPS_AT_ONCE, Math.ceil(missing() / 2))}:true {i}`);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await replay(url, conversation.id, lastId(conversation)));
    conversation.socket.close();
    return times;
  },
};
