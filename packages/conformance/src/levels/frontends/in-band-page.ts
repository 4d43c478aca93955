import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isObservation, isState } from '../../target/frames.ts';
import { hasTypes } from '../shapes.ts';
import { message } from '../v0-socketio/join.ts';
import { driveOld, loadOptions, lookAround } from './opendevin-pages.ts';
import { openPage, readAll } from './page.ts';
import { readAs09 } from './reads.ts';

const STEPS = [
  { call: 'think', args: { thought: 'A file is to be made.' } },
  { call: 'execute_bash', args: { command: 'mkdir -p src; printf "a line\\n" > src/made.txt; echo made' } },
  { call: 'finish', args: { message: 'It is made.' } },
];

/** 0.15 speaks Socket.IO, and REST by the token of its first frame. */
export const inBandPage: readonly Check[] = [
  {
    id: 'v0-socketio/page-0.15',
    title: 'the frontend of 0.15 gets through all of its calls and frames, and finds in each what it takes apart',
    cites: ['DL125', 'DL126'],
    async run(target) {
      await loadOptions(openPage(target), true);
      const peer = target.socketIo({ says: 'oh_action' });
      const args = { ...target.modelArguments, AGENT: 'CodeActAgent', LANGUAGE: 'en', CONFIRMATION_MODE: false, SECURITY_ANALYZER: '' };
      peer.send({ action: 'initialize', args });
      const { token } = await peer.frames.until('the token', (frame) => frame.token !== undefined);
      await peer.frames.until('init', isState('init'));
      peer.send(message(target.script(STEPS)));
      const ran = await peer.frames.until('the command', isObservation('run'));
      assert.equal(typeof (ran.extras as { exit_code?: unknown }).exit_code, 'number');
      await peer.frames.until('the end', isState('finished'));
      const said = peer.frames.all.filter(({ source, action }) => source === 'agent' && action === 'message');
      assert.ok(
        said.some(({ message: words }) => words === 'A file is to be made.'),
        'the thought is not shown',
      );
      const noise = peer.frames.all.filter(({ observation }) => observation === 'recall' || observation === 'think');
      assert.deepEqual(noise, [], 'the chat would show what is only for the record');
      await driveOld(peer, target);
      readAll(peer, readAs09);
      const page = openPage(target, { authorization: `Bearer ${String(token)}` });
      await lookAround(page, '');
      hasTypes(await page.ask('GET', '/api/conversation'), { runtime_id: 'string|null' }, 'conversation');
      hasTypes(await page.ask('GET', '/api/vscode-url'), { vscode_url: 'string|null' }, 'vscode-url');
      assert.equal((await page.try('GET', '/api/zip-directory')).headers.get('content-type'), 'application/zip');
    },
  },
];
