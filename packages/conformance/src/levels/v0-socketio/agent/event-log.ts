import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { isAction, isState, type Frame } from '../../../target/frames.ts';
import { join } from '../join.ts';
import { logOf, bash, spoken, ran } from './talk.ts';

/** What is recorded, and what looking at it changes. */
export const eventLog: readonly Check[] = [
  {
    id: 'v0-socketio/opened-again',
    title: 'looking at a conversation that rests appends nothing',
    cites: ['EN5'],
    async run(target) {
      const { ready } = await spoken(target, [bash('echo one')]);
      const before = await logOf(target, ready);
      for (let turn = 0; turn < 3; turn += 1) {
        const late = join(target, ready.id);
        await late.frames.until('the state', isState('awaiting_user_input', 'finished'));
        late.close();
      }
      assert.equal((await logOf(target, ready)).length, before.length);
    },
  },
  {
    id: 'v0-socketio/stopped-and-opened',
    title: 'a conversation that was stopped takes messages again, and the prompt is not added a second time',
    cites: ['EN4', 'Q6', 'AS7'],
    async run(target) {
      const { ready } = await spoken(target, [{ text: 'one' }]);
      ready.peer.close();
      await target.ask('POST', `/api/conversations/${ready.id}/stop`, { body: {} });
      await target.ask('POST', `/api/conversations/${ready.id}/start`, { body: {} });
      const back = { id: ready.id, peer: join(target, ready.id) };
      await back.peer.frames.until('a state', isState('awaiting_user_input', 'stopped', 'finished'));
      await spoken(target, [{ text: 'two' }], { ready: back });
      assert.equal((await logOf(target, back)).filter(isAction('system')).length, 1);
    },
  },
  {
    id: 'v0-socketio/log-gapless',
    title: 'ids are 0, 1, 2, … without a gap, times never go back, every event has a source; what is read is what was sent',
    cites: ['EL1', 'EL5', 'EL8', 'EL9'],
    async run(target) {
      const { ready, frames } = await spoken(target, [bash('echo one'), bash('echo two')]);
      const log = await logOf(target, ready);
      const ids = log.map(({ id }) => Number(id));
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      );
      assert.equal(new Set(ids).size, ids.length);
      const times = log.map(({ timestamp }) => String(timestamp));
      assert.deepEqual(times, times.toSorted());
      assert.ok(log.every(({ source }) => ['agent', 'user', 'environment'].includes(String(source))));
      const stored = log.find(ran('two'));
      assert.deepEqual(stored?.extras, frames.find(ran('two'))?.extras);
      const page = await target.ask('GET', `/api/conversations/${ready.id}/events?start_id=${ids[1]}&end_id=${ids[3]}`);
      const part = (page.body.events as unknown as readonly Frame[]).map(({ id }) => Number(id));
      assert.ok(part.length > 0 && part.every((id) => id >= ids[1]! && id <= ids[3]!), `ids ${part.join()} from ${ids[1]} to ${ids[3]}`);
    },
  },
];
