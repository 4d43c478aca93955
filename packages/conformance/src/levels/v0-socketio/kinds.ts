import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { extrasOf, isObservation, type Frame, type Frames } from '../../target/frames.ts';
import { join, joinNew, turn } from './join.ts';
import { bash, begin, inShared, rested, spoken } from './agent/talk.ts';

const run = (args: object): Frame => ({ action: 'run', args: { command: 'true', ...args } });

/** One of each that a client may send, as 0.62 and the seed documents have them. */
const EVERY_ACTION: readonly Frame[] = [
  run({}),
  { action: 'run_ipython', args: { code: 'print(1)' } },
  { action: 'read', args: { path: '/etc/hostname' } },
  { action: 'write', args: { path: '/tmp/conformance-every', content: 'x' } },
  { action: 'edit', args: { path: '/tmp/conformance-every', command: 'str_replace', old_str: 'x', new_str: 'y' } },
  { action: 'recall', args: { query: 'x', recall_type: 'knowledge' } },
  { action: 'change_agent_state', args: { agent_state: 'awaiting_user_input' } },
  { action: 'condensation_request', args: {} },
  { action: 'kill', args: { id: 7 } },
  { action: 'call_tool_mcp', args: { name: 'none', arguments: {} } },
  { action: 'task_tracking', args: { command: 'view', task_list: [] } },
  { action: 'system', args: { content: 'never' } },
  { action: 'null' },
];

const isAnswer = ({ observation, error, status_update: isStatus, action }: Frame): boolean =>
  observation !== undefined || error !== undefined || isStatus === true || action !== undefined;

/** Kinds, values and frames beside events. */
export const kinds: readonly Check[] = [
  {
    id: 'v0-socketio/every-action',
    title: 'every action that a client may send is answered with an event or an error, and the conversation goes on',
    cites: ['EN10', 'T1'],
    async run(target) {
      const ready = await joinNew(target);
      for (const frame of EVERY_ACTION.slice(0, -1)) {
        const from = ready.peer.frames.all.length;
        ready.peer.send(frame);
        await ready.peer.frames.until(`an answer to ${String(frame.action)}`, isAnswer, { from });
      }
      ready.peer.send(EVERY_ACTION.at(-1));
      await turn(target, ready, [{ text: 'goes on' }]);
    },
  },
  {
    id: 'v0-socketio/no-null',
    title: 'kinds of 0.62 alone are sent, and `null` never is',
    cites: ['DL1'],
    async run(target) {
      const { frames } = await spoken(target, [bash('true'), { call: 'think', args: { thought: 'a plan' } }, { text: 'well' }]);
      assert.deepEqual(
        frames.filter(({ action, observation }) => action === 'null' || observation === 'null'),
        [],
      );
      const known = 'message system run run_ipython read write edit think finish recall change_agent_state condensation task_tracking';
      assert.deepEqual(
        frames.flatMap(({ action }) => (typeof action === 'string' && !known.includes(action) ? [action] : [])),
        [],
      );
    },
  },
  {
    id: 'v0-socketio/old-and-new-names',
    title: 'where old and new names do not clash both are sent: frontends of 0.15, 0.25 and 0.40 find theirs',
    cites: ['DL4'],
    shares: 'talk',
    async run(target) {
      const { frames } = await spoken(target, [bash('(exit 3)')], await inShared(target));
      const observation = frames.find(isObservation('run'))!;
      assert.equal((extrasOf(observation).metadata as Frame).exit_code, 3);
      assert.equal(extrasOf(observation).exit_code, 3);
    },
  },
  {
    id: 'v0-socketio/risks',
    title: 'every security risk is taken as its number, −1 to 2, and `null`; another is refused',
    cites: ['Q20', 'Q21', 'Q22', 'Q23', 'S8', 'DL20'],
    shares: 'talk',
    async run(target) {
      const { peer } = await target.shared(joinNew);
      for (const security_risk of [-1, 0, 1, 2, null]) {
        const from = peer.frames.all.length;
        peer.send(run({ security_risk }));
        await peer.frames.until(`an answer at risk ${security_risk}`, isObservation('run'), { from });
      }
      const from = peer.frames.all.length;
      peer.send(run({ security_risk: 9 }));
      await peer.frames.until(
        'a refusal',
        ({ error, observation, type }) => error !== undefined || observation === 'error' || type === 'error',
        { from },
      );
    },
  },
  {
    id: 'v0-socketio/status',
    title: 'failures are status updates with an id and words on `oh_event`, beside the state in the events',
    cites: ['DL12'],
    async run(target) {
      const talk = await begin(target, [{ status: 401 }]);
      const frames = await rested(target, talk, 'error');
      const status =
        frames.find(({ status_update: is, type }) => is === true && type === 'error') ??
        (await talk.ready.peer.frames.until('the status', ({ status_update: is, type }) => is === true && type === 'error', {
          from: talk.from,
        }));
      assert.match(String(status.id), /^STATUS\$/);
    },
  },
  {
    id: 'v0-socketio/in-the-making',
    title: 'output is sent while a command runs, in pieces without a gap, also to who comes in the middle, and never as events',
    cites: ['EN95', 'SB8', 'DL12'],
    async run(target) {
      const talk = await begin(target, [bash('echo one; sleep 1; echo two; sleep 1; echo three')]);
      const { volatile, frames } = talk.ready.peer;
      const piecesOf = ({ all }: Frames) => all.filter(({ volatile: kind }) => kind === 'output');
      // However it is cut into pieces.
      const textOf = (seen: Frames): string =>
        piecesOf(seen)
          .map(({ text }) => text)
          .join('');
      await volatile.until('the first word', () => textOf(volatile).includes('one'));
      const late = join(target, talk.ready.id);
      await late.volatile.until('what was before', () => textOf(late.volatile).includes('one'));
      assert.equal(piecesOf(late.volatile)[0]?.offset, 0);
      await rested(target, talk);
      const pieces = piecesOf(volatile);
      let end = 0;
      for (const { offset, text } of pieces) {
        assert.equal(offset, end);
        end += Buffer.byteLength(String(text));
      }
      assert.match(textOf(volatile), /one\s+two\s+three/);
      assert.ok(!frames.all.some(({ volatile: kind }) => kind !== undefined), 'a piece came as an event');
    },
  },
];
