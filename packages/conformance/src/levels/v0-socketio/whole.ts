import type { Check } from '../../check.ts';
import { isObservation, type Frame } from '../../target/frames.ts';
import { idsOf, isEvent, isTheRest, isWhole, longTurn } from '../whole-history.ts';
import { join, joinNew, message } from './join.ts';

const LIVE_MS = 3_000;

/** Over a long history no event is lost, doubled, swapped or late. */
export const whole: readonly Check[] = [
  {
    id: 'v0-socketio/every-event',
    title: 'sixty events reach a client that is there and one that comes later, each once, in order and with its cause',
    cites: ['F2', 'F6', 'SV12', 'CL1', 'EL1'],
    async run(target) {
      const { id, live } = await longTurn(target);
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
    async run(target) {
      const { id, live } = await longTurn(target);
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
      peer.send(message(target.script([{ call: 'execute_bash', args: { command: 'echo live' } }])));
      await target.eventually('the observation over REST', async () => {
        const { body } = await target.ask('GET', `/api/conversations/${id}/events?reverse=true&limit=20`);
        return (body.events as unknown as readonly Frame[] | undefined)?.some(isObservation('run'));
      });
      await peer.frames.until('live delivery of what REST already shows', isObservation('run'), { withinMs: LIVE_MS });
    },
  },
];
