import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { hasStatus, hasTypes } from '../shapes.ts';

/** Every route of 0.62 that clients of some release ask, with a method and, where one is needed, a body that does not fit. */
const ROUTES_OF_062 = `GET /api/options/models|GET /api/options/agents|GET /api/options/security-analyzers|GET /api/options/config
GET /api/settings|POST /api/settings|GET /api/secrets|POST /api/secrets|POST /api/add-git-providers|POST /api/unset-provider-tokens
GET /api/user/info|GET /api/user/repositories|GET /api/user/installations|GET /api/user/search/repositories|GET /api/user/search/branches
GET /api/user/repository/branches|GET /api/user/suggested-tasks|GET /api/conversations|POST /api/conversations
GET /api/conversations/ID|PATCH /api/conversations/ID|POST /api/conversations/ID/start|POST /api/conversations/ID/stop
POST /api/conversations/ID/message|POST /api/conversations/ID/events|GET /api/conversations/ID/events|GET /api/conversations/ID/events/search
GET /api/conversations/ID/trajectory|GET /api/conversations/ID/config|GET /api/conversations/ID/web-hosts|GET /api/conversations/ID/vscode-url
GET /api/conversations/ID/microagents|GET /api/conversations/ID/remember-prompt|POST /api/conversations/ID/submit-feedback
GET /api/conversations/ID/list-files|GET /api/conversations/ID/select-file|GET /api/conversations/ID/zip-directory
POST /api/conversations/ID/upload-files|GET /api/conversations/ID/git/changes|GET /api/conversations/ID/git/diff
GET /api/microagent-management/conversations|GET /alive|GET /health|GET /server_info`;

/** What is there, and what is refused in words. */
export const refusals: readonly Check[] = [
  {
    id: 'v0-rest/every-route',
    title: 'every route of 0.62 is there: none is an unknown path, none a fault of the server without words',
    cites: ['T3', 'SV37', 'SV10'],
    async run(target) {
      const id = await target.converse();
      for (const line of ROUTES_OF_062.split(/[|\n]/)) {
        const [method = '', path = ''] = line.replace('ID', id).split(' ');
        const answer = await target.ask(method, path, method === 'GET' ? {} : { body: { nonsense: 7 } });
        const isUnknown = answer.status === 404 && /Unknown path|^\{"detail":"Not Found"\}$|<html/i.test(answer.text);
        assert.ok(!isUnknown && answer.status !== 405, `${line}: ${answer.status} ${answer.text.slice(0, 80)}`);
        assert.ok(answer.status < 500 || answer.text.length > 5, `${line}: ${answer.status} without words`);
        if (method === 'POST' && path === '/api/conversations' && answer.status === 200)
          target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${String(answer.body.conversation_id)}`)));
      }
    },
  },
  {
    id: 'v0-rest/no-repository',
    title: 'a name that is no repository is refused in words, and no conversation is made',
    cites: ['SV56'],
    async run(target) {
      await target.converse({ repository: null });
      for (const repository of ['../../etc', 'not a repository', 'https://github.com/']) {
        const answer = await target.ask('POST', '/api/conversations', { body: { repository } });
        assert.ok(answer.status >= 400 && answer.status < 500, `${repository}: ${answer.status}`);
      }
    },
  },
  {
    id: 'v0-rest/events-schema',
    title: 'the JSON Schema of events is served, and has every kind of the seed documents',
    cites: ['DL30', 'SV10'],
    async run(target) {
      const answer = await target.ask('GET', '/api/schema/events.json');
      hasStatus(answer, 200);
      hasTypes(answer.body, { $schema: 'string' }, 'schema');
      const kinds =
        'run run_ipython browse browse_interactive read write edit message think delegate finish reject summarize recall change_agent_state agent_state_changed condense error success user_rejected';
      assert.deepEqual(
        kinds.split(' ').filter((kind) => !answer.text.includes(`"${kind}"`)),
        [],
      );
    },
  },
];
