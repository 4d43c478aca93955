import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { ORIGIN } from './page.ts';

/** What a frontend of any release asks that is not about conversations: where it is served from, and its settings. */
export const pages: readonly Check[] = [
  {
    id: 'v0-rest/no-page-for-programs',
    title: 'what a frontend’s script asks for and is not there is 404 in JSON, never a page with 200',
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
      const wishes = { 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'content-type,x-session-api-key' };
      for (const path of ['/api/conversations/none', '/socket.io/?EIO=4&transport=polling']) {
        const preflight = await target.ask('OPTIONS', path, { headers: { ...headers, ...wishes } });
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
    title:
      'what a form takes apart is in the settings as text: a model, an address, an agent, a language; and sent back whole they are taken',
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
];
