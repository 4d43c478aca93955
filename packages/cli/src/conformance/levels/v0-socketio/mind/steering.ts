import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { argsOf, extrasOf, isAction, isState, type Frame } from '../../../frames.ts';
import type { Target } from '../../../target.ts';
import { join, joinNew, type Ready } from '../join.ts';
import { bash, begin, change, FINISH, request, rested, spoken } from './talk.ts';

const ran = (words: string) => (frame: Frame) => frame.observation === 'run' && String(frame.content).trim() === words;

/** Every event that REST gives, in order. */
export async function logOf(target: Target, { id }: Ready): Promise<readonly Frame[]> {
  const events: Frame[] = [];
  for (;;) {
    const { body } = await target.ask('GET', `/api/conversations/${id}/events?start_id=${Number(events.at(-1)?.id ?? -1) + 1}&limit=100`);
    events.push(...(body.events as unknown as readonly Frame[]));
    if ((body.has_more as unknown) !== true) return events;
  }
}

/** A refusal, in whichever form it comes. */
const isRefusal = ({ error, observation, status_update: isStatus, type }: Frame): boolean =>
  error !== undefined || observation === 'error' || (isStatus === true && type === 'error');

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
    title: 'a conversation that was stopped takes messages again, and the prompt is not said a second time',
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
      assert.equal(target.modelRequests(talk.words).length, 1);
      send(change('running'));
      await frames.until('what comes after', ran('after'));
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
    id: 'v0-socketio/cell-cancelled',
    title: 'stopping interrupts a cell; the next one runs in the same kernel, or is told that it does not',
    cites: ['RT113'],
    async run(target) {
      const cell = (code: string) => ({ call: 'execute_ipython_cell', args: { code, timeout: 60 } });
      const { ready } = await spoken(target, [cell('kept = 7')]);
      const talk = await begin(target, [cell('import time; time.sleep(300)')], { ready });
      await ready.peer.frames.until('the action', isAction('run_ipython'), { from: talk.from });
      ready.peer.send(change('stopped'));
      await ready.peer.frames.until('stopped', isState('stopped'), { from: talk.from });
      const { frames } = await spoken(target, [cell('print("kept" in globals())')], { ready });
      const next = String(frames.find(({ observation }) => observation === 'run_ipython')?.content);
      const isSaid = ready.peer.frames.all.some(
        ({ observation, content }) => observation !== undefined && /kernel (?:was|has|had)/i.test(String(content)),
      );
      assert.ok(/True/.test(next) || (/False/.test(next) && isSaid), `the next cell said ${next.slice(0, 80)}`);
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
    id: 'v0-socketio/states-in-any-case',
    title: 'a state is read in any letter case, and in the words of 0.4',
    cites: ['AS11', 'DL21'],
    async run(target) {
      const talk = await begin(target, [bash('sleep 1; echo one'), bash('echo two')]);
      const { frames, send } = talk.ready.peer;
      await frames.until('the action', isAction('run'));
      send(change('PAUSED'));
      await frames.until('paused', isState('paused'));
      send(change('resume'));
      await frames.until('what comes after', ran('two'));
    },
  },
  {
    id: 'v0-socketio/states-asked-for',
    title: 'a client gets the states that it may ask for where the agent is, and is refused the others; `stopped` it gets everywhere',
    cites: ['AS8', 'AS4', 'AS9'],
    async run(target) {
      const { ready } = await spoken(target, [FINISH]);
      const { frames, send } = ready.peer;
      await frames.until('finished', isState('finished'));
      for (const state of ['paused', 'user_confirmed', 'rate_limited', 'loading']) {
        const from = frames.all.length;
        send(change(state));
        await frames.until(`a refusal of ${state}`, isRefusal, { from });
      }
      send(change('stopped'));
      await frames.until('stopped', isState('stopped'));
    },
  },
  {
    id: 'v0-socketio/states-legal',
    title: 'states follow each other only as the table of states allows, through work, patience, a pause, a stop, an end and a failure',
    cites: ['AS2', 'AS4', 'AS6', 'AS9', 'Q4', 'Q5', 'Q6', 'Q9'],
    async run(target) {
      const talk = await begin(target, [{ status: 429 }, bash('sleep 0.5'), bash('true'), FINISH]);
      const { ready } = talk;
      await ready.peer.frames.until('the action', isAction('run'));
      ready.peer.send(change('paused'));
      await ready.peer.frames.until('paused', isState('paused'));
      ready.peer.send(change('running'));
      await rested(target, talk, 'finished');
      await rested(target, await begin(target, [{ status: 401 }], { ready }), 'error');
      ready.peer.send(change('stopped'));
      await ready.peer.frames.until('stopped', isState('stopped'));
      const states = ready.peer.frames.all
        .filter(({ observation }) => observation === 'agent_state_changed')
        .map((frame) => String(extrasOf(frame).agent_state));
      for (const [index, state] of states.entries()) {
        const before = states[index - 1];
        if (before === undefined || before === state) continue;
        assert.ok(NEXT[before]?.includes(state), `${before} was followed by ${state}`);
      }
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

/** What may follow a state, as docs/spec/agent-states.md has it. */
const NEXT: Readonly<Record<string, string>> = {
  loading: 'init running awaiting_user_input paused stopped error',
  init: 'loading running awaiting_user_input paused stopped error',
  running: 'loading awaiting_user_input paused stopped finished rejected error rate_limited awaiting_user_confirmation',
  awaiting_user_input: 'loading running paused stopped finished rejected error',
  paused: 'loading running awaiting_user_input stopped error awaiting_user_confirmation',
  stopped: 'loading running awaiting_user_input error',
  finished: 'loading running awaiting_user_input stopped error',
  rejected: 'loading running awaiting_user_input stopped error',
  error: 'loading running awaiting_user_input stopped',
  rate_limited: 'loading running awaiting_user_input paused stopped error',
  awaiting_user_confirmation: 'loading running paused stopped error user_confirmed user_rejected',
  user_confirmed: 'loading running paused stopped error',
  user_rejected: 'loading running awaiting_user_input paused stopped error',
};
