import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isAction } from '../../target/frames.ts';
import { askAs } from '../raw.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { joinNew, message, turn } from '../v0-socketio/join.ts';
import { ORIGIN } from './page.ts';

/** The requests that frontends make besides reading events: each once, at a moment of their choosing. */
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
  {
    id: 'v0-rest/no-analyzer',
    title: 'no security analyzer is in settings that none was sent with: a page of 0.40 would show a lock',
    cites: ['SV234'],
    isAlone: true,
    async run(target) {
      hasStatus(await target.ask('POST', '/api/settings', { body: { security_analyzer: null } }), 200);
      assert.equal((await target.ask('GET', '/api/settings')).body.security_analyzer, null);
    },
  },
  {
    id: 'v0-rest/app-at-first-question',
    title: 'asked before anything is served, `web-hosts` has a link that answers as soon as something is',
    cites: ['SV232'],
    async run(target) {
      const ready = await joinNew(target);
      const { hosts } = (await target.ask('GET', `/api/conversations/${ready.id}/web-hosts`)).body;
      const [link] = Object.keys(hosts ?? {}).map((each) => new URL(each));
      assert.ok(link, 'there is no link');
      // As a page looks, every few seconds.
      const looked = async () => (await askAs(target, link.host, link.pathname, { origin: ORIGIN })).status;
      assert.ok((await looked()) >= 400, 'it answers before anything is served');
      const command = '(setsid python3 -m http.server 0 --bind 127.0.0.1 > /dev/null 2>&1 &); sleep 1';
      await turn(target, ready, [{ call: 'execute_bash', args: { command } }]);
      await target.eventually('an answer', async () => (await looked()) < 300);
    },
  },
  {
    id: 'v0-rest/editor-at-first-question',
    title: 'asked before the sandbox runs, `vscode-url` has a link to a page that waits, or there is no editor at all',
    cites: ['SV233'],
    async run(target) {
      const { body } = await target.ask('GET', `/api/conversations/${await target.converse()}/vscode-url`);
      hasTypes(body, { vscode_url: 'string|null' }, 'answer');
      if (typeof body.vscode_url !== 'string') return assert.match(String(body.error), /no editor/);
      const link = new URL(body.vscode_url);
      const entered = await askAs(target, link.host, link.pathname + link.search);
      const cookie = entered.headers['set-cookie']?.[0]?.split(';')[0];
      const page = await askAs(target, link.host, entered.headers.location ?? '/', { accept: 'text/html', ...(cookie && { cookie }) });
      assert.match(page.text, /<html/i);
    },
  },
];
