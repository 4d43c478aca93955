import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { argsOf, extrasOf, isAction, isState, type Frame } from '../../../target/frames.ts';
import { join, joinNew } from '../join.ts';
import { isRefusal } from './is-refusal.ts';
import { logOf } from './log-of.ts';
import { bash, begin, request, rested, spoken } from './talk.ts';
import { ran } from './ran.ts';

/** What people do while an agent works or rests. */
export const steering: readonly Check[] = [
  {
    id: 'v0-socketio/first-message',
    title: 'the first message is followed by its recall and `running`, then by what the agent does; words alone wait for the user',
    cites: ['EN2', 'EN3'],
    async run(target) {
      const { frames } = await spoken(target, [bash('echo one'), { text: 'what next?' }]);
      const at = (fits: (frame: Frame) => boolean): number => frames.findIndex(fits);
      const order = [
        at(({ action, source }) => action === 'message' && source === 'user'),
        at(isState('running')),
        at(isAction('run')),
        at(ran('one')),
        at(({ action, source }) => action === 'message' && source === 'agent'),
      ];
      assert.ok(!order.includes(-1), `positions ${order.join()}`);
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
      assert.equal(argsOf(frames[order[4]!]!).wait_for_response, true);
    },
  },
  {
    id: 'v0-socketio/at-the-same-time',
    title: 'actions that two clients send at the same time each get an event and an answer of their own',
    cites: ['EN20'],
    async run(target) {
      const ready = await joinNew(target);
      const other = join(target, ready.id);
      await other.frames.until('the state', isState('awaiting_user_input'));
      const words = ['a1', 'b1', 'a2', 'b2', 'a3', 'b3'];
      for (const word of words) (word.startsWith('a') ? ready.peer : other).send({ action: 'run', args: { command: `echo ${word}` } });
      for (const word of words) await other.frames.until(`the answer ${word}`, ran(word));
      const answers = other.frames.all.filter(({ observation }) => observation === 'run');
      assert.equal(new Set(answers.map(({ cause }) => cause)).size, words.length);
    },
  },
  {
    id: 'v0-socketio/refused-without-trace',
    title: 'what does not fit is refused with words and leaves no trace in the log',
    cites: ['EN12', 'EN11'],
    async run(target) {
      const ready = await joinNew(target);
      const before = await logOf(target, ready);
      for (const frame of [
        { action: 'run', args: { command: 7 } },
        { action: 'edit', args: {} },
        { action: 'no_such_action', args: {} },
      ]) {
        const from = ready.peer.frames.all.length;
        ready.peer.send(frame);
        await ready.peer.frames.until(`a refusal of ${JSON.stringify(frame)}`, isRefusal, { from });
      }
      assert.equal((await logOf(target, ready)).length, before.length);
    },
  },
  {
    id: 'v0-socketio/steps-bound',
    title: 'the limit of a task’s cost is kept before the next request, and told in the state `error` with words',
    cites: ['EN90'],
    isAlone: true,
    async run(target) {
      const store = async (max_budget_per_task: number | null): Promise<void> =>
        void (await target.ask('POST', '/api/settings', { body: { max_budget_per_task } }));
      target.defer(() => store(null));
      await store(0.01);
      const talk = await begin(target, [{ ...bash('true'), tokens: 1_000_000 }, { text: 'never said' }]);
      const frames = await rested(target, talk, 'error', 'paused');
      assert.ok(frames.some(isState('error')), 'the state is not error');
      assert.equal(target.modelRequests(talk.words).length, 1);
      assert.match(String(extrasOf(frames.findLast(isState('error'))!).reason), /\S/);
      await request(target, talk, 0);
    },
  },
];
