import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import type { Frame } from '../../target/frames.ts';
import { join, joinNew, message } from './join.ts';

const isSaid = (client_id: string) => (frame: Frame) => frame.client_id === client_id && frame.action === 'message';

/** Frames that a client sends again because it does not know whether they arrived; an extension of Tendon's own. */
export const sentAgain: readonly Check[] = [
  {
    id: 'v0-socketio/client-id',
    title:
      'a message sent again under its `client_id` is answered with its event and is in the conversation once; another one under it is refused',
    cites: ['EN181', 'EN182', 'DL146'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      const said = { ...message(target.script([{ text: 'heard' }])), client_id: 'conformance-1' };
      peer.send(said);
      const echo = await peer.frames.until('the echo with its client_id', isSaid('conformance-1'));
      const from = peer.frames.all.indexOf(echo) + 1;
      peer.send(said);
      assert.equal((await peer.frames.until('the event again', isSaid('conformance-1'), { from })).id, echo.id);
      const over = await target.ask('POST', `/api/conversations/${id}/events`, { body: said });
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
    title: 'who comes back is told on `tendon_volatile` when it has all that is stored',
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
];
