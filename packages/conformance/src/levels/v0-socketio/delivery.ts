import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isObservation, type Frame } from '../../target/frames.ts';
import { idsOf, isEvent, isTheRest, isWhole, longTurn } from '../whole-history.ts';
import { join, joinNew, message } from './join.ts';

const LIVE_MS = 3_000;

/** Over a long history no event is lost, doubled, swapped or late; a frame that a client sends again is carried out once. */
export const delivery: readonly Check[] = [
  {
    id: 'v0-socketio/every-event',
    title: 'sixty events reach a client that is there and one that comes later, each once, in order and with its cause',
    cites: ['F2', 'F6', 'SV12', 'CL1', 'EL1'],
    shares: 'long-turn',
    async run(target) {
      const { id, live } = await target.shared(longTurn);
      isWhole(live, 'the client that was there');
      const last = live.findLast(isEvent)!;
      for (const transport of ['websocket', 'polling'] as const) {
        const late = join(target, id, { transports: [transport] });
        await late.frames.until('the last event', (frame) => frame.id === last.id);
        isWhole(late.frames.all, `a client that came later, by ${transport}`);
      }
    },
  },
  {
    id: 'v0-socketio/every-cursor',
    title: 'from wherever a client has got to, it is sent exactly the rest',
    cites: ['F6', 'DL5', 'SV12', 'CL1'],
    shares: 'long-turn',
    async run(target) {
      const { id, live } = await target.shared(longTurn);
      const lastId = live.findLast(isEvent)!.id;
      const all = idsOf(live);
      for (const after of [all[1]!, all[20]!, all[41]!]) {
        const back = join(target, id, { after });
        await back.frames.until('the last event', (frame) => frame.id === lastId);
        isTheRest(idsOf(back.frames.all), { after, all, who: 'a client that came back' });
      }
    },
  },
  {
    id: 'v0-socketio/live',
    title: 'an event that can be read over REST has reached the clients that are there, or does within seconds',
    cites: ['F2', 'SV12'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      peer.send(message(target.model.script([{ call: 'execute_bash', args: { command: 'echo live' } }])));
      await target.eventually('the observation over REST', async () => {
        const { body } = await target.ask('GET', `/api/conversations/${id}/events?reverse=true&limit=20`);
        return (body.events as unknown as readonly Frame[] | undefined)?.some(isObservation('run'));
      });
      await peer.frames.until('live delivery of what REST already shows', isObservation('run'), { withinMs: LIVE_MS });
    },
  },
  {
    id: 'v0-socketio/client-id',
    title:
      'a message sent again under its `client_id` is answered with its event and is in the conversation once; another one under it is refused',
    cites: ['EN181', 'EN182', 'DL146'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      const sent = { ...message(target.model.script([{ text: 'heard' }])), client_id: 'conformance-1' };
      peer.send(sent);
      const echo = await peer.frames.until('the echo with its client_id', isEcho('conformance-1'));
      const from = peer.frames.all.indexOf(echo) + 1;
      peer.send(sent);
      assert.equal((await peer.frames.until('the event again', isEcho('conformance-1'), { from })).id, echo.id);
      const over = await target.ask('POST', `/api/conversations/${id}/events`, { body: sent });
      assert.equal(over.status, 200, over.text);
      const other = await target.ask('POST', `/api/conversations/${id}/events`, {
        body: { ...message('something else'), client_id: 'conformance-1' },
      });
      assert.equal(other.status, 422, other.text);
      const late = join(target, id);
      await late.volatile.until('the end of the replay', (frame) => frame.phase === 'end');
      assert.equal(late.frames.all.filter((frame) => frame.source === 'user' && frame.action === 'message').length, 1);
    },
  },
  {
    id: 'v0-socketio/caught-up',
    title: 'a client that comes back is notified on `tendon_volatile` when it has all that is stored',
    cites: ['SV193'],
    async run(target) {
      const { id } = await joinNew(target);
      const peer = join(target, id);
      await peer.volatile.until('the beginning of the replay', (frame) => frame.volatile === 'replay' && frame.phase === 'begin');
      const end = await peer.volatile.until('the end of the replay', (frame) => frame.volatile === 'replay' && frame.phase === 'end');
      const ids = peer.frames.all.flatMap((frame) => (typeof frame.id === 'number' ? [frame.id] : []));
      assert.ok(ids.length > 0, 'nothing was replayed before the end');
      assert.equal(end.next_id, Math.max(...ids) + 1);
    },
  },
  {
    id: 'v0-socketio/tail',
    title: 'a client that asks for the newest events is sent no others, and what the conversation is at',
    cites: ['CL1000'],
    shares: 'long-turn',
    async run(target) {
      const { id, live } = await target.shared(longTurn);
      const all = idsOf(live);
      const peer = join(target, id, { query: { tail: '10' } });
      const left = await peer.volatile.until('what is left out', (frame) => frame.volatile === 'replay' && frame.phase === 'tail');
      await peer.volatile.until('the end of the replay', (frame) => frame.phase === 'end');
      const first = Number(left.first_id);
      assert.ok(first > all[20]!, `it begins with event ${first}`);
      isTheRest(idsOf(peer.frames.all), { after: first - 1, all, who: 'a client that asks for ten' });
      const { agent_state } = left.state as { readonly agent_state?: unknown };
      const last = peer.frames.all.findLast(isObservation('agent_state_changed'));
      assert.equal(agent_state, (last?.extras as { readonly agent_state?: unknown } | undefined)?.agent_state);
    },
  },
];

const isEcho = (client_id: string) => (frame: Frame) => frame.client_id === client_id && frame.action === 'message';
