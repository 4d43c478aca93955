import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isAction, isState } from '../../target/frames.ts';
import type { Peer, Target } from '../../target/target.ts';
import { actionIn, join, joinInBand, joinNew, message, turn } from '../v0-socketio/join.ts';
import { NAMES, addressOf, enter, initialize, say } from '../ws-legacy/session.ts';

const LAST_WORDS = { call: 'finish', args: { message: 'The last words.' } };

/** `init` comes, and the current state after it. */
async function becomesActive({ frames }: Peer): Promise<void> {
  const init = await frames.until('init', isState('init'));
  await frames.until('the current state', isState('finished'), { from: frames.all.indexOf(init) });
}

/** Clients that were there before, and the end of a task as old frontends show it. */
export const reconnecting: readonly Check[] = [
  ...(['w4', 'w5'] as const).map((generation) => ({
    id: `ws-legacy/${generation}-active-again`,
    title: `a frontend of ${NAMES[generation]} that comes back is sent \`init\`, by which it becomes active, and then the current state`,
    cites: ['DL122'],
    async run(target: Target) {
      const { peer, token } = await enter(target, generation);
      say(peer, generation, target.model.script([LAST_WORDS]));
      await peer.frames.until('the end', isState('finished'));
      peer.close();
      const back = await target.connect.webSocket(addressOf(generation, token));
      initialize(target, back);
      await becomesActive(back);
    },
  })),
  {
    id: 'v0-socketio/in-band-active-again',
    title: 'a frontend of 0.15–0.17 that comes back to a finished task is sent `init`, and then `finished`',
    cites: ['DL122'],
    async run(target) {
      const { peer: first, token } = await joinInBand(target);
      await first.frames.until('init', isState('init'));
      first.send(message(target.model.script([LAST_WORDS])));
      await first.frames.until('the end', isState('finished'));
      first.close();
      const { peer: back } = await joinInBand(target, { token });
      await becomesActive(back);
      const kinds = back.frames.all.map(({ action, extras }) => action ?? (extras as { agent_state?: string } | undefined)?.agent_state);
      assert.ok(kinds.indexOf('finish') < kinds.indexOf('init'), 'init came before the messages');
    },
  },
  {
    id: 'v0-socketio/reload-in-mid-run',
    title: 'a page that is loaded while a command runs is sent the state before the last event: its next socket asks for nothing twice',
    cites: ['DL7'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      peer.send(message(target.model.script([{ call: 'execute_bash', args: { command: 'sleep 3' } }])));
      const running = await peer.frames.until('the command', isAction('run'));
      const loaded = join(target, id);
      await loaded.frames.until('the command', ({ id: sent }) => sent === running.id);
      await loaded.frames.until('the state', isState('running'));
      const ids = loaded.frames.all.flatMap((frame) => (typeof frame.id === 'number' ? [frame.id] : []));
      assert.equal(ids.at(-1), Math.max(...ids), `the ids end with ${ids.slice(-3).join()}`);
    },
  },
  {
    id: 'v0-socketio/last-words',
    title: 'the message of a `finish` is the last words: frontends before 0.28 show nothing else',
    cites: ['DL123'],
    async run(target) {
      const finish = actionIn(await turn(target, await joinNew(target), [LAST_WORDS]), 'finish');
      assert.match(String(finish.message), /The last words\./);
    },
  },
];
