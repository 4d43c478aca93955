import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { hasStatus, hasTypes } from '../shapes.ts';

const UNKNOWN = '0123456789abcdef0123456789abcdef';
const INFO = {
  conversation_id: 'string',
  title: 'string',
  last_updated_at: 'string|null',
  created_at: 'string',
  status: 'string',
  selected_repository: 'string|null',
  selected_branch: 'string|null',
  git_provider: 'string|null',
  trigger: 'string|null',
  num_connections: 'number',
  url: 'string|null',
  session_api_key: 'string|null',
  pr_number: 'array',
  conversation_version: 'string',
};

export const conversations: readonly Check[] = [
  {
    id: 'v0-rest/create',
    title: '`POST /api/conversations` answers `ok`, an id of 32 hex digits and a status that frontends know',
    cites: ['DL41', 'SV10', 'SV11'],
    async run(target) {
      const answer = await target.ask('POST', '/api/conversations', { body: {} });
      hasStatus(answer, 200);
      const id = String(answer.body.conversation_id);
      target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${id}`)));
      assert.match(id, /^[0-9a-f]{32}$/);
      assert.partialDeepStrictEqual(answer.body, { status: 'ok', message: null });
      assert.ok(['STARTING', 'RUNNING'].includes(String(answer.body.conversation_status)), answer.text);
    },
  },
  {
    id: 'v0-rest/idempotency-key',
    title:
      'a `POST` with an `Idempotency-Key` that comes again makes one conversation and says one message; with another body it is refused',
    cites: ['SV194'],
    async run(target) {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const create = (body: object) => target.ask('POST', '/api/conversations', { body, headers });
      const [first, again] = [await create({}), await create({})];
      hasStatus(first, 200);
      const id = String(first.body.conversation_id);
      target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${id}`)));
      assert.equal(String(again.body.conversation_id), id);
      assert.equal((await create({ conversation_instructions: 'another body' })).status, 422);
      const say = () => target.ask('POST', `/api/conversations/${id}/message`, { body: { message: target.model.script([]) }, headers });
      const body = { message: target.model.script([{ text: 'heard' }]) };
      const [firstAnswer, secondAnswer] = [
        await target.ask('POST', `/api/conversations/${id}/message`, { body, headers }),
        await target.ask('POST', `/api/conversations/${id}/message`, { body, headers }),
      ];
      hasStatus(firstAnswer, 200);
      assert.deepEqual(secondAnswer.body, firstAnswer.body);
      assert.equal((await say()).status, 422);
    },
  },
  {
    id: 'v0-rest/running-at-once',
    title: 'a conversation is RUNNING with a `runtime_status` from the first moment, as 0.25 needs',
    cites: ['SV11'],
    async run(target) {
      const { body } = await target.ask('GET', `/api/conversations/${await target.converse()}`);
      assert.equal(body.status, 'RUNNING');
      assert.ok(typeof body.runtime_status === 'string' && body.runtime_status !== 'STATUS$STOPPED', JSON.stringify(body));
    },
  },
  {
    id: 'v0-rest/info',
    title: 'a conversation has every key of 0.62, alone as in the list, where the newest is first',
    cites: ['SV10', 'SV11'],
    async run(target) {
      const id = await target.converse();
      const single = await target.ask('GET', `/api/conversations/${id}`);
      hasTypes(single.body, INFO, 'conversation');
      const list = await target.ask('GET', '/api/conversations?limit=100');
      hasTypes(list.body, { results: 'array', next_page_id: 'string|null' }, 'list');
      const items = list.body.results as unknown as readonly { conversation_id: string; created_at: string }[];
      hasTypes(
        items.find((item) => item.conversation_id === id),
        INFO,
        'item',
      );
      const times = items.map((item) => Date.parse(item.created_at));
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      );
    },
  },
  {
    id: 'v0-rest/pages',
    title: 'the list has pages: `limit`, and `next_page_id` leads to the rest, each once',
    cites: ['SV10', 'DL44'],
    async run(target) {
      const ids = [await target.converse(), await target.converse(), await target.converse()];
      const found: string[] = [];
      let page = '';
      for (let turn = 0; turn < 200; turn += 1) {
        const { body } = await target.ask('GET', `/api/conversations?limit=2${page}`);
        const results = body.results as unknown as readonly { conversation_id: string }[];
        assert.ok(results.length <= 2);
        found.push(...results.map((item) => item.conversation_id));
        if (!body.next_page_id || ids.every((id) => found.includes(id))) break;
        page = `&page_id=${encodeURIComponent(String(body.next_page_id))}`;
      }
      for (const id of ids) {
        const times = found.filter((other) => other === id).length;
        assert.equal(times, 1, `a conversation stands ${times} times on the pages of the list`);
      }
    },
  },
  {
    id: 'v0-rest/unknown',
    title: 'an unknown conversation is 200 `null` alone, and 404 with `detail` below it',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('GET', `/api/conversations/${UNKNOWN}`);
      hasStatus(answer, 200);
      assert.equal(answer.text, 'null');
      const below = await target.ask('GET', `/api/conversations/${UNKNOWN}/events`);
      hasStatus(below, 404);
      hasTypes(below.body, { detail: 'string' }, 'answer');
    },
  },
  {
    id: 'v0-rest/bad-id',
    title: 'an id with tricks or of great length is refused, and nothing is made of it',
    cites: ['DL44', 'SV37'],
    async run(target) {
      for (const id of ['a'.repeat(200), '..%2f..%2fetc', 'a%00b', 'a%0ab']) {
        const answer = await target.ask('GET', `/api/conversations/${id}/events`);
        hasStatus(answer, 400, 404);
      }
    },
  },
  {
    id: 'v0-rest/rename',
    title: '`PATCH` gives a title; an unknown conversation is 404 with `msg_id`, a title that does not fit 422',
    cites: ['SV10', 'DL45'],
    async run(target) {
      const id = await target.converse();
      const answer = await target.ask('PATCH', `/api/conversations/${id}`, { body: { title: 'Renamed' } });
      hasStatus(answer, 200);
      assert.equal(answer.text, 'true');
      assert.equal((await target.ask('GET', `/api/conversations/${id}`)).body.title, 'Renamed');
      const unknown = await target.ask('PATCH', `/api/conversations/${UNKNOWN}`, { body: { title: 'x' } });
      hasStatus(unknown, 404);
      assert.equal(unknown.body.msg_id, 'CONVERSATION$NOT_FOUND');
      hasStatus(await target.ask('PATCH', `/api/conversations/${id}`, { body: { title: '' } }), 422);
    },
  },
  {
    id: 'v0-rest/delete',
    title: '`DELETE` is `true`, of an unknown one `false`; what was deleted is gone',
    cites: ['SV40', 'SV10'],
    async run(target) {
      const id = await target.converse();
      const answer = await target.ask('DELETE', `/api/conversations/${id}`);
      hasStatus(answer, 200);
      assert.equal(answer.text, 'true');
      assert.equal((await target.ask('GET', `/api/conversations/${id}`)).text, 'null', 'what was deleted can still be read');
      assert.equal((await target.ask('DELETE', `/api/conversations/${UNKNOWN}`)).text, 'false');
    },
  },
  {
    id: 'v0-rest/start-stop',
    title: '`start` and `stop` answer with id and status; an unknown conversation is 404',
    cites: ['SV10'],
    async run(target) {
      const id = await target.converse();
      const started = await target.ask('POST', `/api/conversations/${id}/start`, { body: { providers_set: ['github'] } });
      hasStatus(started, 200);
      assert.partialDeepStrictEqual(started.body, { status: 'ok', conversation_id: id });
      const stopped = await target.ask('POST', `/api/conversations/${id}/stop`, { body: {} });
      hasStatus(stopped, 200);
      assert.partialDeepStrictEqual(stopped.body, { status: 'ok', conversation_id: id });
      hasStatus(await target.ask('POST', `/api/conversations/${UNKNOWN}/start`, { body: {} }), 404);
    },
  },
  {
    id: 'v0-rest/first-message',
    title: 'a conversation that is made with `initial_user_msg` begins to work at once',
    cites: ['DL41', 'SV10'],
    async run(target) {
      const id = await target.converse({
        initial_user_msg: target.model.script([{ call: 'execute_bash', args: { command: 'echo first' } }]),
      });
      const { frames } = target.connect.socketIo({ query: { conversation_id: id, latest_event_id: '-1' } });
      const observation = await frames.until('the observation', (frame) => frame.observation === 'run');
      assert.match(String(observation.content), /first/);
    },
  },
  {
    id: 'v0-rest/bodies',
    title: 'the bodies of 0.20, 0.25 and 0.40 make conversations too',
    cites: ['DL41'],
    async run(target) {
      await target.converse({ selected_repository: null, selected_branch: null, initial_user_msg: null, image_urls: [] });
      await target.converse({ github_token: '', selected_repository: null });
      await target.converse({
        repository: null,
        git_provider: null,
        replay_json: null,
        suggested_task: null,
        conversation_instructions: null,
      });
    },
  },
  {
    id: 'v0-rest/bad-body',
    title: 'a body that does not fit is 422 with FastAPI’s shape, one that is no JSON below 500',
    cites: ['DL45', 'SV37'],
    async run(target) {
      const answer = await target.ask('POST', '/api/conversations', { body: { initial_user_msg: 7 } });
      hasStatus(answer, 422);
      assert.ok(Array.isArray(answer.body.detail), answer.text.slice(0, 200));
      const headers = { 'content-type': 'application/json' };
      hasStatus(await target.ask('POST', '/api/conversations', { body: '{"initial_user_msg":', headers }), 400, 422);
    },
  },
];
