import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isState } from '../../target/frames.ts';
import type { Target } from '../../target/target.ts';
import { hasStatus, hasTypes } from '../shapes.ts';

async function store(target: Target, body: object): Promise<void> {
  hasStatus(await target.ask('POST', '/api/settings', { body }), 200);
}

export const settings: readonly Check[] = [
  {
    id: 'v0-rest/settings',
    title: '`GET /api/settings` has every key of 0.62 and never a key in the clear',
    cites: ['SV8', 'SV9', 'DL42'],
    async run(target) {
      const answer = await target.ask('GET', '/api/settings');
      hasStatus(answer, 200);
      hasTypes(
        answer.body,
        { language: 'string|null', agent: 'string|null', llm_model: 'string|null', llm_base_url: 'string|null' },
        'settings',
      );
      hasTypes(answer.body, { llm_api_key_set: 'boolean', search_api_key_set: 'boolean', provider_tokens_set: 'object' }, 'settings');
      hasTypes(
        answer.body,
        { confirmation_mode: 'boolean|null', security_analyzer: 'string|null', enable_default_condenser: 'boolean' },
        'settings',
      );
      hasTypes(
        answer.body,
        { user_consents_to_analytics: 'boolean|null', mcp_config: 'object|null', max_iterations: 'number|null' },
        'settings',
      );
      assert.equal(answer.body.llm_api_key_set, true);
      assert.ok(!answer.text.includes(target.model.initializeArgs.LLM_API_KEY!), 'the key of the model is in the answer');
    },
  },
  {
    id: 'v0-rest/settings-partial',
    title: 'a settings update changes what it names and empties nothing else',
    cites: ['SV8'],
    isAlone: true,
    async run(target) {
      const before = await target.ask('GET', '/api/settings');
      target.defer(() => store(target, { language: 'en' }));
      await store(target, { language: 'de' });
      const after = await target.ask('GET', '/api/settings');
      assert.equal(after.body.language, 'de');
      for (const key of ['agent', 'llm_model', 'llm_base_url', 'max_iterations', 'confirmation_mode', 'llm_api_key_set']) {
        assert.deepEqual(after.body[key], before.body[key], key);
      }
    },
  },
  {
    id: 'v0-rest/settings-keep-key',
    title: 'a key that is `null`, absent or sent back as stars stays; other generations’ fields are tolerated',
    cites: ['SV8', 'SV9', 'DL42'],
    isAlone: true,
    async run(target) {
      await store(target, { llm_api_key: null, provider_tokens_set: {}, github_token_is_set: false, unset_github_token: false });
      await store(target, { llm_api_key: '**********' });
      assert.equal((await target.ask('GET', '/api/settings')).body.llm_api_key_set, true);
      const { frames, send } = target.connect.socketIo({ query: { conversation_id: await target.converse(), latest_event_id: '-1' } });
      await frames.until('awaiting_user_input', isState('awaiting_user_input'));
      send({ action: 'message', args: { content: target.model.script([{ text: 'the key still works' }]) } });
      await frames.until('the answer', ({ action, source }) => action === 'message' && source === 'agent');
    },
  },
  {
    id: 'v0-rest/settings-refused',
    title: 'settings that do not fit are 422 with FastAPI’s shape, and nothing is stored',
    cites: ['DL45', 'SV37'],
    async run(target) {
      const answer = await target.ask('POST', '/api/settings', { body: { condenser_max_size: 3, language: 'xx' } });
      hasStatus(answer, 422);
      assert.ok(Array.isArray(answer.body.detail), answer.text.slice(0, 200));
      hasTypes(answer.body.detail[0], { loc: 'array', msg: 'string', type: 'string' }, 'detail[0]');
      assert.notEqual((await target.ask('GET', '/api/settings')).body.language, 'xx');
    },
  },
  {
    id: 'v0-rest/settings-reset',
    title: '`POST /api/reset-settings` is gone (410)',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('POST', '/api/reset-settings', { body: {} });
      hasStatus(answer, 410);
      hasTypes(answer.body, { error: 'string' }, 'answer');
    },
  },
  {
    id: 'v0-rest/secrets',
    title: 'secrets are made, listed without values, renamed and removed, with the codes that the settings page reads',
    cites: ['SV24'],
    isAlone: true,
    async run(target) {
      const name = 'CONFORMANCE_SECRET';
      const named = async (): Promise<unknown> =>
        ((await target.ask('GET', '/api/secrets')).body.custom_secrets as unknown as { name: string }[]).find((secret) =>
          secret.name.startsWith(name),
        );
      target.defer(async () => void (await target.ask('DELETE', `/api/secrets/${name}_2`)));
      hasStatus(await target.ask('POST', '/api/secrets', { body: { name, value: 'a-value-of-no-one', description: 'for a check' } }), 201);
      const twice = await target.ask('POST', '/api/secrets', { body: { name, value: 'another-value-of-no-one' } });
      hasStatus(twice, 400);
      hasTypes(twice.body, { message: 'string' }, 'answer');
      assert.deepEqual(await named(), { name, description: 'for a check' });
      hasStatus(await target.ask('PUT', `/api/secrets/${name}`, { body: { name: `${name}_2`, description: 'renamed' } }), 200);
      assert.deepEqual(await named(), { name: `${name}_2`, description: 'renamed' });
      hasStatus(await target.ask('DELETE', `/api/secrets/${name}_2`), 200);
      assert.equal(await named(), undefined);
      hasStatus(await target.ask('DELETE', `/api/secrets/${name}_2`), 404);
    },
  },
  {
    id: 'v0-rest/no-provider',
    title: 'routes that ask a git provider answer 401 with a JSON string where no token is stored',
    cites: ['SV25'],
    async run(target) {
      for (const path of ['info', 'repositories', 'installations?provider=github', 'suggested-tasks', 'search/repositories?query=a']) {
        const answer = await target.ask('GET', `/api/user/${path}`);
        hasStatus(answer, 401);
        assert.equal(typeof answer.body, 'string', `${path}: ${answer.text.slice(0, 100)}`);
      }
      hasStatus(await target.ask('POST', '/api/unset-provider-tokens', { body: {} }), 200);
    },
  },
];
