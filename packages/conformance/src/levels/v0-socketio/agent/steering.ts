import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { argsOf, extrasOf, isAction, isState, type Frame } from '../../../target/frames.ts';
import { join, joinNew } from '../join.ts';
import { isRefusal, bash, begin, request, rested, spoken, logOf, ran, change } from './talk.ts';

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
    title: 'an action that does not fit is refused with words and leaves no trace in the log',
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
    title: 'the limit of a task’s cost holds before the next request; the state `error` has the reason',
    cites: ['EN90'],
    isAlone: true,
    async run(target) {
      const store = async (max_budget_per_task: number | null): Promise<void> =>
        void (await target.ask('POST', '/api/settings', { body: { max_budget_per_task } }));
      target.defer(() => store(null));
      await store(0.01);
      const talk = await begin(target, [{ ...bash('true'), tokens: 1_000_000 }, { text: 'never sent' }]);
      const frames = await rested(target, talk, 'error', 'paused');
      assert.ok(frames.some(isState('error')), 'the state is not error');
      assert.equal(target.model.requests(talk.words).length, 1);
      assert.match(String(extrasOf(frames.findLast(isState('error'))!).reason), /\S/);
      await request(target, talk, 0);
    },
  },
  {
    id: 'v0-socketio/cell-cancelled',
    title: 'stopping interrupts a cell; the next one runs in the same kernel, or its output says that it does not',
    cites: ['RT113'],
    async run(target) {
      const cell = (code: string) => ({ call: 'execute_ipython_cell', args: { code, timeout: 60 } });
      const { ready } = await spoken(target, [cell('stored = 7')]);
      const talk = await begin(target, [cell('import time; time.sleep(300)')], { ready });
      await ready.peer.frames.until('the action', isAction('run_ipython'), { from: talk.from });
      ready.peer.send(change('stopped'));
      await ready.peer.frames.until('stopped', isState('stopped'), { from: talk.from });
      const { frames } = await spoken(target, [cell('print("stored" in globals())')], { ready });
      const next = String(frames.find(({ observation }) => observation === 'run_ipython')?.content);
      const isReported = ready.peer.frames.all.some(
        ({ observation, content }) => observation !== undefined && /kernel (?:was|has|had)/i.test(String(content)),
      );
      assert.ok(/True/.test(next) || (/False/.test(next) && isReported), `the next cell printed ${next.slice(0, 80)}`);
    },
  },
  {
    id: 'v0-socketio/page-cancelled',
    title: 'stopping ends a page that never comes, and the browser goes on with the next',
    cites: ['RT153'],
    async run(target) {
      const port = 20_000 + Math.floor(Math.random() * 20_000);
      const silent = `(python3 -c "import socket,time; s=socket.create_server(('127.0.0.1',${port})); time.sleep(300)" & echo started) 2>/dev/null`;
      const { ready } = await spoken(target, [bash(silent)]);
      const talk = await begin(target, [{ call: 'browser', args: { code: `goto("http://127.0.0.1:${port}/")` } }], { ready });
      await ready.peer.frames.until('the action', isAction('browse_interactive'), { from: talk.from });
      ready.peer.send(change('stopped'));
      await ready.peer.frames.until('stopped', isState('stopped'), { from: talk.from });
      const page = { call: 'browser', args: { code: 'goto("data:text/html,<p>next-page")' } };
      const { frames } = await spoken(target, [page], { ready });
      assert.match(String(frames.find(({ observation }) => observation === 'browse')?.content), /next-page/);
    },
  },
  {
    id: 'v0-socketio/stopping-answers-all',
    title: 'stopping ends what runs and answers everything that had no answer; then the state is `stopped`',
    cites: ['EN16', 'SB9'],
    async run(target) {
      const talk = await begin(target, [{ calls: [bash('echo begun; sleep 300', { timeout: 600 }), bash('echo never')] }]);
      const { frames, send } = talk.ready.peer;
      await frames.until('the action', isAction('run'));
      send(change('stopped'));
      await frames.until('stopped', isState('stopped'), { from: talk.from });
      const log = await logOf(target, talk.ready);
      for (const { id, args } of log.filter(isAction('run')))
        assert.ok(
          log.some(({ cause, observation }) => cause === id && observation !== undefined),
          `no answer to ${JSON.stringify(args).slice(0, 60)}`,
        );
      assert.ok(!log.some(ran('never')), 'the second call ran');
      const next = await spoken(target, [bash('echo next')], { ready: talk.ready });
      assert.ok(next.frames.some(ran('next')), 'the next command did not run');
    },
  },
  {
    id: 'v0-socketio/pausing-lets-end',
    title: 'pausing lets the running action end and begins nothing new; resuming goes on',
    cites: ['EN14', 'AS10'],
    async run(target) {
      const talk = await begin(target, [bash('sleep 1; echo ended'), bash('echo after')]);
      const { frames, send } = talk.ready.peer;
      await frames.until('the action', isAction('run'));
      send(change('paused'));
      await frames.until('paused', isState('paused'));
      await frames.until('the end of what ran', ran('ended'));
      send({ action: 'run', args: { command: 'echo by-hand' } });
      await frames.until('the user’s own', ran('by-hand'));
      assert.ok(!frames.all.some(ran('after')), 'the agent went on while it was paused');
      assert.equal(target.model.requests(talk.words).length, 1);
      send(change('running'));
      await frames.until('what comes after', ran('after'));
    },
  },
];
