import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { hasStatus, hasTypes, isTexts } from '../shapes.ts';

/** The models that the settings forms of 0.9, 0.25, 0.40 and 0.62 begin with: a form whose provider is not listed cannot be left. */
const DEFAULT_PROVIDERS = ['openhands', 'anthropic'];

export const options: readonly Check[] = [
  {
    id: 'v0-rest/options-config',
    title: '`GET /api/options/config` says mode `oss` and has the feature flags',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('GET', '/api/options/config');
      hasStatus(answer, 200);
      assert.equal(String(answer.body.APP_MODE).toLowerCase(), 'oss');
      hasTypes(answer.body, { FEATURE_FLAGS: 'object', GITHUB_CLIENT_ID: 'string|null', POSTHOG_CLIENT_KEY: 'string|null' }, 'config');
    },
  },
  {
    id: 'v0-rest/options-models',
    title: '`GET /api/options/models` is a sorted list with the provider of every frontend’s own default',
    cites: ['SV10', 'LM1', 'LM43'],
    async run(target) {
      const answer = await target.ask('GET', '/api/options/models');
      hasStatus(answer, 200);
      isTexts(answer.body, 'models');
      const models = answer.body as unknown as readonly string[];
      const missing = DEFAULT_PROVIDERS.filter((provider) => !models.some((name) => name.startsWith(`${provider}/`)));
      assert.deepEqual(missing, []);
      assert.ok(models.includes('gpt-4o'), 'gpt-4o is not listed');
    },
  },
  {
    id: 'v0-rest/options-agents',
    title: '`GET /api/options/agents` lists `CodeActAgent`',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('GET', '/api/options/agents');
      hasStatus(answer, 200);
      isTexts(answer.body, 'agents');
      assert.ok((answer.body as unknown as readonly string[]).includes('CodeActAgent'));
    },
  },
  {
    id: 'v0-rest/options-analyzers',
    title: '`GET /api/options/security-analyzers` is a list',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('GET', '/api/options/security-analyzers');
      hasStatus(answer, 200);
      isTexts(answer.body, 'analyzers');
    },
  },
  {
    id: 'v0-rest/health',
    title: '`/health`, `/alive` and `/server_info` answer as monitors expect',
    cites: ['SV10'],
    async run(target) {
      const health = await target.ask('GET', '/health');
      hasStatus(health, 200);
      assert.equal(health.text, '"OK"');
      const alive = await target.ask('GET', '/alive');
      assert.deepEqual(alive.body, { status: 'ok' });
      const info = await target.ask('GET', '/server_info');
      hasTypes(info.body, { uptime: 'number', idle_time: 'number', resources: 'object' }, 'server_info');
      hasTypes(info.body.resources, { cpu_percent: 'number', memory: 'object', disk: 'object' }, 'resources');
    },
  },
  {
    id: 'v0-rest/unknown-path',
    title: 'an unknown path under `/api` is a 404 in JSON, never a page',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('GET', '/api/no/such/route');
      hasStatus(answer, 404);
      hasTypes(answer.body, { detail: 'string' }, 'answer');
    },
  },
  {
    id: 'v0-rest/sandboxes-probe',
    title: 'the question of 0.62’s frontend for a V1 sandbox is harmless: 404 or a list',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('GET', '/api/v1/sandboxes?id=none');
      hasStatus(answer, 200, 404);
      if (answer.status === 200) assert.ok(Array.isArray(answer.body), answer.text.slice(0, 200));
    },
  },
];
