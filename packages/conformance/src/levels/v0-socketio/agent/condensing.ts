import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { argsOf, isAction, isObservation, type Frame } from '../../../target/frames.ts';
import { joinNew } from '../join.ts';
import { has, isRefusal, textOfRequest, bash, begin, request, rested, spoken } from './talk.ts';

const STEPS = [1, 2, 3, 4, 5, 6].map((n) => bash(`echo output-${n}`));
const ask = { action: 'condensation_request', args: {} };
const isCondensed = (frame: Frame): boolean => isAction('condensation')(frame);

/** What becomes of a conversation that grows too long for its model. */
export const condensing: readonly Check[] = [
  {
    id: 'v0-socketio/condensed',
    title: 'a requested condensation replaces the older part by the model’s summary, and every word of the user stays',
    cites: ['EN40', 'EN135', 'EN32'],
    async run(target) {
      const first = await spoken(target, STEPS, { aside: { text: 'summary-the-first' } });
      first.ready.peer.send(ask);
      const done = await first.ready.peer.frames.until('the condensation', isCondensed);
      assert.equal(argsOf(done).summary, 'summary-the-first');
      const next = await spoken(target, STEPS, { ready: first.ready, aside: { text: 'summary-the-second' } });
      const asked = await request(target, next, 0);
      has(asked, 'summary-the-first');
      has(asked, first.words);
      assert.ok(!textOfRequest(asked).includes('output-1\n'), 'what was condensed is still shown');
      const from = next.ready.peer.frames.all.length;
      next.ready.peer.send(ask);
      await next.ready.peer.frames.until('the second condensation', isCondensed, { from });
      const last = await begin(target, [{ text: 'well' }], { ready: first.ready });
      has(await request(target, last, 0), 'summary-the-second');
      assert.ok(!textOfRequest(await request(target, last, 0)).includes('summary-the-first'), 'both summaries are shown');
    },
  },
  {
    id: 'v0-socketio/condensed-plan',
    title: 'the agent’s plan is an action and an observation with all tasks, and outlives a condensation',
    cites: ['EN760', 'EN761'],
    async run(target) {
      const plan = { call: 'task_tracker', args: { command: 'plan', task_list: [{ title: 'the-one-task', status: 'in_progress' }] } };
      const first = await spoken(target, [plan, ...STEPS], { aside: { text: 'a-summary' } });
      const task_list = [{ id: '1', title: 'the-one-task', status: 'in_progress', notes: '' }];
      const saved = first.frames.find(isObservation('task_tracking'));
      assert.deepEqual(saved?.extras, { command: 'plan', task_list });
      assert.deepEqual(argsOf(first.frames.find(isAction('task_tracking'))!).task_list, task_list);
      first.ready.peer.send(ask);
      await first.ready.peer.frames.until('the condensation', isCondensed);
      const viewed = await spoken(target, [{ call: 'task_tracker', args: { command: 'view' } }, { text: 'seen' }], { ready: first.ready });
      has(await request(target, viewed, 0), 'the-one-task');
      assert.deepEqual(viewed.frames.find(isObservation('task_tracking'))?.extras, { command: 'view', task_list });
    },
  },
  {
    id: 'v0-socketio/condensed-revised',
    title: 'a client edits the newest summary, and undoes the newest condensation: the model is shown what it was shown before',
    cites: ['EN851', 'EN853', 'EN854', 'EN855'],
    async run(target) {
      const { ready, words } = await spoken(target, STEPS, { aside: { text: 'as-the-model-wrote' } });
      ready.peer.send(ask);
      const { id } = await ready.peer.frames.until('the condensation', isCondensed);
      ready.peer.send({ action: 'condensation', args: { edits: id, summary: 'as-the-person-wrote' } });
      const edited = await spoken(target, [{ text: 'seen' }], { ready });
      has(await request(target, edited, 0), 'as-the-person-wrote');
      has(await request(target, edited, 0), words);
      assert.ok(!textOfRequest(await request(target, edited, 0)).includes('as-the-model-wrote'), 'both texts are shown');
      ready.peer.send({ action: 'condensation', args: { undoes: id } });
      const undone = await spoken(target, [{ text: 'seen' }], { ready });
      has(await request(target, undone, 0), 'output-1');
      assert.ok(!textOfRequest(await request(target, undone, 0)).includes('as-the-person-wrote'), 'the summary is still shown');
      const from = ready.peer.frames.all.length;
      ready.peer.send({ action: 'condensation', args: { summary: 'out of nothing' } });
      await ready.peer.frames.until('the refusal', isRefusal, { from });
    },
  },
  {
    id: 'v0-socketio/condensed-in-vain',
    title: 'where too little would be gained an error says so',
    cites: ['EN131'],
    async run(target) {
      const { peer } = await joinNew(target);
      peer.send(ask);
      await peer.frames.until('the error', isObservation('error'));
    },
  },
  {
    id: 'v0-socketio/condensed-by-need',
    title: 'a request that the model finds too long is condensed and made again',
    cites: ['EN132'],
    async run(target) {
      const long = { status: 400, code: 'context_length_exceeded', says: 'maximum context length exceeded' };
      const { frames } = await spoken(target, [...STEPS, long, { text: 'fits now' }], { aside: { text: 'a-summary' } });
      assert.ok(frames.some(isCondensed), 'nothing was condensed');
      assert.ok(
        frames.some(({ args }) => (args as Frame | undefined)?.content === 'fits now'),
        'it was not asked again',
      );
    },
  },
  {
    id: 'v0-socketio/condensed-by-length',
    title: 'so many events as `condenser_max_size` says are condensed before the model is asked again',
    cites: ['EN160'],
    isAlone: true,
    async run(target) {
      const store = async (condenser_max_size: number): Promise<void> =>
        void (await target.ask('POST', '/api/settings', { body: { condenser_max_size } }));
      target.defer(() => store(120));
      await store(20);
      const { frames } = await spoken(target, [...STEPS, ...STEPS], { aside: { text: 'a-summary' } });
      assert.ok(frames.some(isCondensed), 'nothing was condensed');
    },
  },
  {
    id: 'v0-socketio/condensed-without-words',
    title: 'a model that gives no summary costs the summary and not the way on',
    cites: ['EN134'],
    async run(target) {
      const first = await spoken(target, STEPS, { aside: { status: 400, says: 'no summary today' } });
      const from = first.ready.peer.frames.all.length;
      first.ready.peer.send(ask);
      await first.ready.peer.frames.until('an end of it', (frame) => isCondensed(frame) || isObservation('error')(frame), { from });
      await spoken(target, [{ text: 'goes on' }], { ready: first.ready });
    },
  },
  {
    id: 'v0-socketio/delegate-stopped',
    title: 'stopping an agent stops the one it has asked',
    cites: ['EN138'],
    async run(target) {
      const part = target.model.script([{ text: 'never sent', after: new Promise(() => {}) }]);
      const talk = await begin(target, [{ call: 'delegate', args: { task: part } }]);
      await target.eventually('request of the other agent', () => target.model.requests(part)[0]);
      talk.ready.peer.send({ action: 'change_agent_state', args: { agent_state: 'stopped' } });
      await rested(target, talk, 'stopped');
      await target.eventually('end of its request', () => target.model.abandoned(part) > 0);
    },
  },
  {
    id: 'v0-socketio/delegate-opened',
    title: 'the other agent works in a conversation of its own, on the same folder',
    cites: ['EN139', 'Q41', 'Q58'],
    async run(target) {
      const part = target.model.script([
        bash('echo left-behind > from-the-other.txt'),
        { call: 'finish', args: { message: 'done', task_completed: 'true' } },
      ]);
      const talk = await spoken(target, [{ call: 'delegate', args: { task: part } }, bash('cat from-the-other.txt')]);
      assert.ok(talk.frames.some(({ observation, content }) => observation === 'run' && String(content).trim() === 'left-behind'));
      const { body } = await target.ask('GET', '/api/conversations?limit=100');
      const ids = (body.results as unknown as readonly { conversation_id: string }[]).map(({ conversation_id: id }) => id);
      const logs = await Promise.all(
        ids.map(async (id) => ({ id, text: (await target.ask('GET', `/api/conversations/${id}/events?limit=20`)).text })),
      );
      const own = logs.find(({ id, text }) => id !== talk.ready.id && text.includes(part));
      assert.ok(own, 'there is no conversation of it');
      target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${own.id}`)));
    },
  },
];
