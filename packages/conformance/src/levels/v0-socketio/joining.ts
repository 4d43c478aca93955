import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isState, type Frame } from '../../target/frames.ts';
import type { Peer } from '../../target/target.ts';
import { actionIn, join, joinInBand, joinNew, message, turn } from './join.ts';

const isEvent = (frame: Frame): boolean => typeof frame.id === 'number';
const idsOf = ({ frames }: Peer): readonly number[] => frames.all.filter(isEvent).map(({ id }) => Number(id));

/** Coming in, coming back, several at once, and who is refused. */
export const joining: readonly Check[] = [
  {
    id: 'v0-socketio/no-conversation',
    title: 'a handshake without `conversation_id` and without a word is refused or waits; it is sent no event',
    cites: ['F6', 'SV13', 'SV14'],
    async run(target) {
      const peer = target.connect.socketIo();
      await target.ask('GET', '/alive');
      assert.deepEqual(peer.frames.all, []);
    },
  },
  {
    id: 'v0-socketio/unknown-conversation',
    title: 'an unknown conversation is refused in words, and none begins',
    cites: ['SV13'],
    async run(target) {
      const peer = join(target, '0123456789abcdef0123456789abcdef');
      const never = peer.frames.until('refusal', () => false);
      assert.match(String(await Promise.race([peer.ended, never])), /conversation/i);
      assert.deepEqual(peer.frames.all, []);
    },
  },
  {
    id: 'v0-socketio/odd-cursor',
    title: 'a `latest_event_id` that is no number (0.62 sends `undefined`) means from the beginning',
    cites: ['F6', 'DL44'],
    async run(target) {
      const { id } = await joinNew(target);
      const peer = join(target, id, { query: { latest_event_id: 'undefined' } });
      await peer.frames.until('the state', isState('awaiting_user_input'));
      assert.ok(actionIn(peer.frames.all, 'system'));
    },
  },
  {
    id: 'v0-socketio/replay',
    title: 'a new client gets the whole history in order, the last state after everything else',
    cites: ['F6', 'DL5', 'DL7', 'SV12'],
    async run(target) {
      const ready = await joinNew(target);
      const live = await turn(target, ready, [
        { call: 'execute_bash', args: { command: 'echo one' } },
        { call: 'execute_bash', args: { command: 'echo two' } },
      ]);
      const late = join(target, ready.id);
      const last = live.findLast(isEvent)!;
      await late.frames.until('the last state', (frame) => frame.id === last.id);
      const runs = late.frames.all.filter(({ observation }) => observation === 'run');
      assert.deepEqual(
        runs.map(({ content }) => String(content).trim()),
        ['one', 'two'],
      );
      const ids = idsOf(late);
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      );
      assert.equal(new Set(ids).size, ids.length);
    },
  },
  {
    id: 'v0-socketio/resume',
    title: 'a client that comes back with `latest_event_id` gets what came after it, and nothing before',
    cites: ['F6', 'DL5', 'SV12', 'CL1'],
    async run(target) {
      const ready = await joinNew(target);
      const first = await turn(target, ready, [{ call: 'execute_bash', args: { command: 'echo one' } }]);
      const seen = Number(first.findLast(isEvent)!.id);
      ready.peer.close();
      const other = join(target, ready.id);
      await other.frames.until('the history', (frame) => frame.id === seen);
      const second = await turn(target, { id: ready.id, peer: other }, [{ call: 'execute_bash', args: { command: 'echo two' } }]);
      const back = join(target, ready.id, { after: seen });
      await back.frames.until('the last state', (frame) => frame.id === second.findLast(isEvent)!.id);
      assert.ok(
        idsOf(back).every((id) => id > seen),
        `ids ${idsOf(back).join()} after ${seen}`,
      );
      assert.deepEqual(
        back.frames.all.filter(({ observation }) => observation === 'run').map(({ content }) => String(content).trim()),
        ['two'],
      );
    },
  },
  {
    id: 'v0-socketio/once',
    title: 'a client that is there from the start gets every event once and in order',
    cites: ['SV12', 'CL1'],
    async run(target) {
      const ready = await joinNew(target);
      await turn(target, ready, [{ call: 'execute_bash', args: { command: 'echo one' } }]);
      const ids = idsOf(ready.peer);
      assert.equal(new Set(ids).size, ids.length, `ids ${ids.join()}`);
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      );
    },
  },
  {
    id: 'v0-socketio/two-clients',
    title: 'two clients of a conversation get the same live events',
    cites: ['F2', 'SV12'],
    async run(target) {
      const ready = await joinNew(target);
      const other = join(target, ready.id);
      await other.frames.until('the state', isState('awaiting_user_input'));
      const from = other.frames.all.length;
      const first = await turn(target, ready, [{ call: 'execute_bash', args: { command: 'echo both' } }]);
      const last = first.findLast(isEvent)!;
      await other.frames.until('the last event', (frame) => frame.id === last.id, { from });
      const ids = (frames: readonly Frame[]): readonly unknown[] => frames.filter(isEvent).map(({ id }) => id);
      assert.deepEqual(ids(other.frames.all.slice(from)), ids(first));
    },
  },
  {
    id: 'v0-socketio/polling',
    title: 'long polling works as WebSocket does, with the upgrade',
    cites: ['F2', 'SV12'],
    async run(target) {
      const ready = await joinNew(target, { transports: ['polling', 'websocket'] });
      await turn(target, ready, [{ call: 'execute_bash', args: { command: 'echo polled' } }]);
    },
  },
  {
    id: 'v0-socketio/leaving',
    title: 'the agent goes on when its only client leaves, and the conversation knows when it is back',
    cites: ['SV12', 'SV20'],
    async run(target) {
      const ready = await joinNew(target);
      const words = target.model.script([{ call: 'execute_bash', args: { command: 'sleep 1; echo went on' } }]);
      ready.peer.send(message(words));
      await ready.peer.frames.until('the action', (frame) => frame.action === 'run');
      ready.peer.close();
      const back = join(target, ready.id);
      const observation = await back.frames.until('the observation', (frame) => frame.observation === 'run');
      assert.match(String(observation.content), /went on/);
    },
  },
  {
    id: 'v0-socketio/in-band',
    title: 'clients of 0.15–0.17 send `initialize` in band, get a token first, then the state `init`, and come back by the token',
    cites: ['DL25', 'SV14', 'F3', 'DL38'],
    async run(target) {
      const { peer: first, token } = await joinInBand(target);
      await first.frames.until('init', isState('init'));
      first.send(message(target.model.script([{ call: 'execute_bash', args: { command: 'echo in band' } }])));
      await first.frames.until('the observation', (frame) => frame.observation === 'run');
      first.close();
      const { peer: back } = await joinInBand(target, { token, latest_event_id: -1 });
      await back.frames.until('the replay', (frame) => frame.observation === 'run');
    },
  },
];
