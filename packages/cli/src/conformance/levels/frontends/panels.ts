import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isAction } from '../../frames.ts';
import { joinNew, message } from '../v0-socketio/join.ts';

/** What frontends ask beside the events, once, at a moment of their own. */
export const panels: readonly Check[] = [
  {
    id: 'v0-rest/changes-after-command',
    title: 'what has changed is told when the command that runs has ended: frontends ask when they hear of it, and not again',
    cites: ['SV231'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      const command = 'git init -q . && sleep 3 && echo late > late.txt';
      peer.send(message(target.script([{ call: 'execute_bash', args: { command } }])));
      await peer.frames.until('the command', isAction('run'));
      const changes = await target.ask('GET', `/api/conversations/${id}/git/changes`);
      assert.match(changes.text, /"late\.txt"/);
    },
  },
];
