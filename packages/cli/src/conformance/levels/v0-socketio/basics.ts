import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isKind, isState } from '../../target.ts';

export const socketIoBasics: readonly Check[] = [
  {
    id: 'v0-socketio/turn',
    title: 'a message over the socket is echoed, runs a command, and its observation names the action as cause',
    cites: ['F2', 'F3', 'G1', 'G2', 'G3', 'G5', 'DL3', 'SV12'],
    async run(target) {
      const id = await target.converse();
      const { frames, send } = target.socketIo({ query: { conversation_id: id, latest_event_id: '-1', providers_set: '' } });
      await frames.until('readiness', isState('awaiting_user_input'));
      const words = target.script([{ call: 'execute_bash', args: { command: 'echo conformance' } }]);
      send({ action: 'message', args: { content: words, image_urls: [], file_urls: [], timestamp: new Date().toISOString() } });
      const echo = await frames.until('the echo', isKind('message'));
      assert.equal(echo.source, 'user');
      const action = await frames.until('action run', (frame) => frame.action === 'run');
      const observation = await frames.until('observation run', (frame) => frame.observation === 'run');
      assert.equal(observation.cause, action.id);
      assert.match(String(observation.content), /conformance/);
      await frames.until('the end of the turn', isState('awaiting_user_input', 'finished'), { from: frames.all.indexOf(observation) });
    },
  },
];
