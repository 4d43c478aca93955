import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { argsOf, isAction, isState, type Frame } from '../../../target/frames.ts';
import type { Target } from '../../../target/target.ts';
import { ran, bash, begin, change, request, rested, type Talk } from './talk.ts';
import type { ModelStep } from '../../../model/model-step.ts';

/** Where a server lists the rules of a conversation. */
const RULES = '/api/conversations/{id}/confirmation';

const isConfirmed = (is: string) => (frame: Frame) => isAction('run')(frame) && argsOf(frame).confirmation_state === is;

/** A talk with an agent that asks before it does what can do harm; it waits for the first verdict. */
async function asking(target: Target, steps: readonly ModelStep[]): Promise<Talk> {
  const store = async (confirmation_mode: boolean): Promise<void> =>
    void (await target.ask('POST', '/api/settings', { body: { confirmation_mode } }));
  target.defer(() => store(false));
  await store(true);
  const talk = await begin(target, steps);
  await asked(talk);
  return talk;
}

async function asked({ ready: { peer }, from }: Talk, after = from): Promise<number> {
  const state = await peer.frames.until('the question', isState('awaiting_user_confirmation'), { from: after });
  await peer.frames.until('the action', isConfirmed('awaiting_confirmation'), { from: after });
  return peer.frames.all.indexOf(state) + 1;
}

/** Confirmation mode. */
export const confirmation: readonly Check[] = [
  {
    id: 'v0-socketio/confirmed',
    title: 'in confirmation mode an action that can do harm waits; confirmed, it comes again with a new id and runs',
    cites: ['EN22', 'Q11', 'Q12', 'Q17', 'Q19'],
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [bash('echo allowed'), { text: 'done' }]);
      const { frames, send } = talk.ready.peer;
      assert.ok(!frames.all.some(ran('allowed')), 'it ran before it was confirmed');
      const question = frames.all.find(isConfirmed('awaiting_confirmation'))!;
      send(change('user_confirmed'));
      const again = await frames.until('the action again', isConfirmed('confirmed'));
      assert.notEqual(again.id, question.id);
      const answer = await frames.until('the observation', ran('allowed'));
      assert.equal(answer.cause, again.id);
    },
  },
  {
    id: 'v0-socketio/rejected',
    title: 'rejected, it is answered with `user_rejected`, the rest of its answer is not executed, and the agent waits for the user',
    cites: ['EN23', 'P3', 'Q13', 'Q18', 'Q56'],
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [{ calls: [bash('echo one'), bash('echo two')] }]);
      const { frames, send } = talk.ready.peer;
      send(change('user_rejected'));
      await frames.until('the refusal', ({ observation }) => observation === 'user_rejected');
      await rested(target, talk, 'awaiting_user_input');
      assert.ok(!frames.all.some(({ observation }) => observation === 'run'), 'something ran');
    },
  },
  {
    id: 'v0-socketio/one-by-one',
    title: 'several actions of one answer are confirmed one by one and carried out in their order',
    cites: ['EN24'],
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [{ calls: [bash('echo one'), bash('echo two')] }, { text: 'done' }]);
      const { frames, send } = talk.ready.peer;
      send(change('user_confirmed'));
      await frames.until('the first', ran('one'));
      await asked(talk, frames.all.findIndex(ran('one')));
      assert.ok(!frames.all.some(ran('two')), 'the second ran unasked');
      send(change('user_confirmed'));
      await frames.until('the second', ran('two'));
      await rested(target, talk);
    },
  },
  {
    id: 'v0-socketio/words-are-no-verdict',
    title: 'a message while an action waits neither confirms nor rejects it, and is in the next request',
    cites: ['EN25', 'EN127'],
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [bash('echo waited'), { text: 'done' }]);
      const { frames, send } = talk.ready.peer;
      send({ action: 'message', args: { content: 'a word meanwhile' } });
      await frames.until('the echo', ({ action, args }) => action === 'message' && (args as Frame).content === 'a word meanwhile');
      assert.ok(
        !frames.all.some(({ observation }) => observation === 'run' || observation === 'user_rejected'),
        'it was taken for a verdict',
      );
      send(change('user_confirmed'));
      await frames.until('the observation', ran('waited'));
      assert.ok(JSON.stringify(await request(target, talk, 1)).includes('a word meanwhile'), 'the model was not shown it');
    },
  },
  {
    id: 'v0-socketio/one-verdict',
    title: 'one of several verdicts on an action counts',
    cites: ['EN26'],
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [bash('echo once'), { text: 'done' }]);
      const { frames, send } = talk.ready.peer;
      for (let turn = 0; turn < 3; turn += 1) send(change('user_confirmed'));
      await rested(target, talk);
      assert.equal(frames.all.filter(ran('once')).length, 1);
      assert.equal(frames.all.filter(isConfirmed('confirmed')).length, 1);
    },
  },
  {
    id: 'v0-socketio/rejected-with-a-reason',
    title: 'the reason of a rejection is in the observation and in the next request, and the agent goes on without being asked',
    cites: ['TR714'],
    needs: RULES,
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [bash('echo one'), { text: 'done' }]);
      const { frames, send } = talk.ready.peer;
      send({ action: 'change_agent_state', args: { agent_state: 'user_rejected', thought: 'use the staging host' } });
      const refusal = await frames.until('the refusal', ({ observation }) => observation === 'user_rejected');
      assert.ok(String(refusal.content).includes('use the staging host'), 'the observation lacks the reason');
      assert.ok(JSON.stringify(await request(target, talk, 1)).includes('use the staging host'), 'the model was not shown it');
    },
  },
  {
    id: 'v0-socketio/changed-before-approval',
    title: 'a command that a person changes before approving it runs as it was changed, and the model is shown that it was',
    cites: ['TR715'],
    needs: RULES,
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [bash('echo first'), { text: 'done' }]);
      const { frames, send } = talk.ready.peer;
      send({ action: 'change_agent_state', args: { agent_state: 'user_confirmed', edited: 'echo second' } });
      await frames.until('the observation', ran('second'));
      assert.ok(!frames.all.some(ran('first')), 'it ran as the agent wrote it');
      assert.ok(JSON.stringify(await request(target, talk, 1)).includes('echo second'), 'the model was not shown the change');
    },
  },
  {
    id: 'v0-socketio/saved-rule',
    title: 'a rule that is saved for a conversation is listed and lets the next action run; taken back, it asks again',
    cites: ['TR718', 'TR911'],
    needs: RULES,
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [bash('echo one'), bash('echo two'), bash('echo three'), { text: 'done' }]);
      const { id, peer } = talk.ready;
      const path = RULES.replace('{id}', id);
      const rules = [{ decision: 'allow', command: 'echo' }];
      assert.deepEqual((await target.ask('GET', path)).body.suggestions, rules);
      assert.equal((await target.ask('PUT', path, { body: { rules } })).status, 200);
      assert.deepEqual((await target.ask('GET', path)).body.rules, rules);
      peer.send(change('user_confirmed'));
      await rested(target, talk);
      assert.ok(peer.frames.all.some(ran('three')), 'not all ran');
      assert.equal(peer.frames.all.filter(isState('awaiting_user_confirmation')).length, 1, 'it asked again');
      const listed = (await target.ask('GET', `${path}/rules`)).body.rules as unknown as readonly {
        readonly id: string;
        readonly rule: unknown;
      }[];
      assert.deepEqual(
        listed.map(({ rule }) => rule),
        rules,
      );
      assert.equal((await target.ask('DELETE', `${path}/rules/${listed[0]!.id}`)).status, 200);
      await asked(await begin(target, [bash('echo four'), { text: 'done' }], { ready: talk.ready }));
      assert.ok(!peer.frames.all.some(ran('four')), 'it ran without the rule');
    },
  },
  {
    id: 'v0-socketio/changed-policy',
    title: 'the policy of a conversation is changed while an action waits: the log says so, and what is allowed by now runs',
    cites: ['SV1090', 'EN1050'],
    needs: RULES,
    isAlone: true,
    async run(target) {
      const talk = await asking(target, [bash('echo one'), bash('echo two'), { text: 'done' }]);
      const { id, peer } = talk.ready;
      const path = RULES.replace('{id}', id);
      assert.equal((await target.ask('GET', path)).body.mode_by, 'settings');
      const { body } = await target.ask('PUT', path, { body: { policy: 'never' } });
      assert.deepEqual([body.mode, body.mode_by], ['never', 'conversation']);
      await rested(target, talk);
      assert.ok(peer.frames.all.some(ran('two')), 'not all ran');
      assert.equal(peer.frames.all.filter(isState('awaiting_user_confirmation')).length, 1, 'it asked again');
      const isNotice = ({ observation, extras }: Frame): boolean =>
        observation === 'success' && (extras as Frame).confirmation_policy === 'never';
      assert.equal(peer.frames.all.filter(isNotice).length, 1, 'the log has no notice of it');
    },
  },
];
