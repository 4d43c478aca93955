import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { ORIGIN } from './page.ts';
import { isAction } from '../../target/frames.ts';
import { askAs } from '../raw.ts';
import { joinNew, message, turn } from '../v0-socketio/join.ts';

/** The requests of frontends beside events: about where they are served from, their settings, and the panels of a conversation. */
export const pages: readonly Check[] = [
  {
    id: 'v0-rest/no-page-for-programs',
    title: 'a file that a frontend’s script asks for and that is missing is 404 in JSON, never a page with 200',
    cites: ['SV151'],
    async run(target) {
      const headers = { accept: 'application/json, text/plain, */*' };
      for (const path of [
        '/locales/xx/translation.json',
        '/assets/no-such.js',
        '/feedback/conversation/none/batch',
        '/api/billing/credits',
      ]) {
        const answer = await target.ask('GET', path, { headers });
        hasStatus(answer, 404);
        assert.ok(!answer.text.includes('<html'), `${path} is a page`);
      }
    },
  },
  {
    id: 'v0-rest/dev-server',
    title: 'a frontend on another port of this machine may preflight, ask and read every answer, over polling too',
    cites: ['SV152', 'SV4'],
    async run(target) {
      const headers = { origin: ORIGIN };
      const preflightHeaders = {
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'content-type,x-session-api-key',
      };
      for (const path of ['/api/conversations/none', '/socket.io/?EIO=4&transport=polling']) {
        const preflight = await target.ask('OPTIONS', path, { headers: { ...headers, ...preflightHeaders } });
        hasStatus(preflight, 200, 204);
        assert.equal(preflight.headers.get('access-control-allow-origin'), ORIGIN, path);
        assert.equal(preflight.headers.get('access-control-allow-credentials'), 'true', path);
        assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /x-session-api-key/i);
      }
      const asked = [
        await target.ask('GET', '/api/options/config', { headers }),
        await target.ask('GET', '/api/no-such-route', { headers }),
        await target.ask('POST', '/api/settings', { headers, body: { condenser_max_size: 3 } }),
        await target.ask('GET', '/socket.io/?EIO=4&transport=polling', { headers }),
      ];
      for (const { headers: given, status } of asked) assert.equal(given.get('access-control-allow-origin'), ORIGIN, `${status}`);
    },
  },
  {
    id: 'v0-rest/settings-whole',
    title: 'settings have as text what a form takes apart: a model, an address, an agent, a language; sent back whole they are taken',
    cites: ['SV154', 'SV8', 'DL42'],
    isAlone: true,
    async run(target) {
      const { body } = await target.ask('GET', '/api/settings');
      hasTypes(
        body,
        {
          llm_model: 'string',
          llm_base_url: 'string',
          agent: 'string',
          language: 'string',
          provider_tokens_set: 'object',
          mcp_config: 'object',
          llm_api_key_set: 'boolean',
          user_consents_to_analytics: 'boolean|null',
        },
        'settings',
      );
      hasStatus(await target.ask('POST', '/api/settings', { body: { ...body, search_api_key: '', llm_api_key: undefined } }), 200);
      const after = await target.ask('GET', '/api/settings');
      for (const key of ['llm_model', 'llm_base_url', 'llm_api_key_set', 'agent']) assert.deepEqual(after.body[key], body[key], key);
    },
  },
  {
    id: 'v0-rest/empty-providers',
    title: 'a form that names every provider and has a token for none is taken',
    cites: ['SV153'],
    async run(target) {
      const none = { token: '', host: '' };
      const body = { provider_tokens: { github: none, gitlab: none, bitbucket: none, azure_devops: none } };
      hasStatus(await target.ask('POST', '/api/add-git-providers', { body }), 200);
    },
  },
  {
    id: 'v0-rest/changes-after-command',
    title: '`git/changes` waits for the command that runs: frontends ask when they hear of it, and not again',
    cites: ['SV231'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      const command = 'git init -q . && sleep 3 && echo late > late.txt';
      peer.send(message(target.model.script([{ call: 'execute_bash', args: { command } }])));
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
    title: '`web-hosts` has a link before anything is served, which answers as soon as something is',
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
    title: '`vscode-url` has a link to a page that waits before the sandbox runs, or there is no editor at all',
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
