import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, isAction, isState, type Frame } from '../../target/frames.ts';
import { hasStatus } from '../shapes.ts';
import { joinNew, message } from '../v0-socketio/join.ts';

/** What every frontend leaves out of its chat. */
const UNSEEN = ['agent_state_changed', 'change_agent_state', 'system', 'recall', 'null'];

function isSeen(frame: Frame): boolean {
  const kind = frame.action ?? frame.observation;
  return typeof kind === 'string' && !UNSEEN.includes(kind);
}

export const confirmation: readonly Check[] = [
  {
    id: 'v0-socketio/confirmation-order',
    title:
      'an action that waits comes after the state that asks for it, as the last that is seen: frontends draw their buttons there, once',
    cites: ['DL121'],
    isAlone: true,
    async run(target) {
      const store = async (body: object) => hasStatus(await target.ask('POST', '/api/settings', { body }), 200);
      target.defer(() => store({ confirmation_mode: false }));
      await store({ confirmation_mode: true, security_analyzer: '' });
      const { peer } = await joinNew(target);
      const { frames, send } = peer;
      send(message(target.script([{ call: 'execute_bash', args: { command: 'echo asked' } }])));
      const asks = (is: string) => (frame: Frame) => isAction('run')(frame) && argsOf(frame).confirmation_state === is;
      const state = await frames.until('the question', isState('awaiting_user_confirmation'));
      const action = await frames.until('the action', asks('awaiting_confirmation'));
      assert.ok(frames.all.indexOf(state) < frames.all.indexOf(action), 'the action came before the state that asks for it');
      assert.equal(action.source, 'agent');
      assert.equal(frames.all.findLast(isSeen), action, 'something else is the last that is seen');
      send({ action: 'change_agent_state', args: { agent_state: 'user_rejected' } });
      await frames.until('the refusal', ({ observation }) => observation === 'user_rejected');
      await frames.until('rest', isState('awaiting_user_input'), { from: frames.all.indexOf(action) });
      assert.ok(!frames.all.some(({ observation }) => observation === 'run'), 'what was refused ran');
    },
  },
];
