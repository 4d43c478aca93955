import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isState, type Frame } from '../../target/frames.ts';
import type { Target } from '../../target/target.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { joinNew, turn } from '../v0-socketio/join.ts';
import { isWhole, longTurn } from '../whole-history.ts';

/** A conversation in which the model printed one line and ended its turn; its id. */
async function recorded(target: Target): Promise<string> {
  const id = await target.converse({
    initial_user_msg: target.model.script([{ call: 'execute_bash', args: { command: 'echo recorded' } }]),
  });
  const { frames } = target.connect.socketIo({ query: { conversation_id: id, latest_event_id: '-1' } });
  const ran = await frames.until('the observation', (frame) => frame.observation === 'run');
  await frames.until('the end', isState('awaiting_user_input', 'finished'), { from: frames.all.indexOf(ran) });
  return id;
}

export const history: readonly Check[] = [
  {
    id: 'v0-rest/events',
    title: 'events are listed from either end in pages, with `has_more`',
    cites: ['SV32', 'DL44'],
    shares: 'recorded',
    async run(target) {
      const base = `/api/conversations/${await target.shared(recorded)}/events`;
      const { body } = await target.ask('GET', `${base}?start_id=0&limit=3`);
      hasTypes(body, { events: 'array', has_more: 'boolean' }, 'page');
      assert.equal((body.events as unknown as readonly unknown[]).length, 3);
      assert.equal(body.has_more, true);
      const last = await target.ask('GET', `${base}?reverse=true&limit=1`);
      const all = await target.ask('GET', `${base}?limit=100`);
      const events = all.body.events as unknown as readonly Frame[];
      assert.equal(last.body.events![0]!.id, events.at(-1)?.id);
      assert.ok(events.some(({ observation }) => observation === 'run'));
    },
  },
  {
    id: 'v0-rest/question',
    title: 'what a conversation waits for is read, and an answer about anything else is refused in words',
    cites: ['SV960'],
    shares: 'recorded',
    needs: '/api/conversations/{id}/question',
    async run(target) {
      const path = `/api/conversations/${await target.shared(recorded)}/question`;
      const { body } = await target.ask('GET', path);
      assert.ok('question' in body, 'it says what waits, or null');
      const answer = await target.ask('POST', path, { body: { event_id: 999_999, answer: 'approve' } });
      hasStatus(answer, 409);
      hasTypes(answer.body, { message: 'string' }, 'answer');
    },
  },
  {
    id: 'v0-rest/search',
    title: 'what was written and done is found over all conversations',
    cites: ['SV961'],
    shares: 'recorded',
    needs: '/api/search',
    async run(target) {
      const id = await target.shared(recorded);
      const { body } = await target.ask('GET', '/api/search?query=recorded');
      const hits = body.hits as unknown as readonly { readonly conversation_id: string }[];
      assert.ok(
        hits.some((hit) => hit.conversation_id === id),
        'a hit in the conversation that printed it',
      );
    },
  },
  {
    id: 'v0-rest/event-pages',
    title: 'pages of events, put together from either end, are the whole history; a page begins with the event that it is asked from',
    cites: ['SV32', 'DL44', 'EL9'],
    shares: 'long-turn',
    async run(target) {
      const { id } = await target.shared(longTurn);
      const page = async (query: string): Promise<readonly Frame[]> => {
        const { body } = await target.ask('GET', `/api/conversations/${id}/events?${query}`);
        return body.events as unknown as readonly Frame[];
      };
      const all = await page('limit=100');
      isWhole(all, 'one page of everything');
      const ids = (frames: readonly Frame[]): readonly unknown[] => frames.map((frame) => frame.id);
      for (const start of [all[0]!, all[9]!, all[40]!].map((frame) => Number(frame.id))) {
        const [first] = await page(`start_id=${start}&limit=7`);
        assert.equal(first?.id, start, `the page from start_id=${start} begins with event ${String(first?.id)}`);
      }
      const inPages: Frame[] = [];
      for (let next = 0, full = true; full; next = Number(inPages.at(-1)!.id) + 1) {
        const found = await page(`start_id=${next}&limit=7`);
        inPages.push(...found);
        full = found.length === 7;
      }
      assert.deepEqual(ids(inPages), ids(all), 'pages of seven, put together, are not the whole history');
      assert.deepEqual(ids(await page('reverse=true&limit=9')), ids(all.toReversed().slice(0, 9)), 'the last page, backwards');
    },
  },
  {
    id: 'v0-rest/events-limit',
    title: 'a limit beyond 100 is refused',
    cites: ['SV32', 'DL44'],
    async run(target) {
      const id = await target.converse();
      hasStatus(await target.ask('GET', `/api/conversations/${id}/events?limit=101`), 400, 422);
    },
  },
  {
    id: 'v0-rest/post-event',
    title: '`POST …/events` takes an action',
    cites: ['SV10', 'DL20'],
    async run(target) {
      const id = await target.converse();
      const { frames } = target.connect.socketIo({ query: { conversation_id: id, latest_event_id: '-1' } });
      await frames.until('readiness', isState('awaiting_user_input'));
      const body = { action: 'message', args: { content: target.model.script([{ text: 'posted' }]) } };
      const answer = await target.ask('POST', `/api/conversations/${id}/events`, { body });
      hasStatus(answer, 200);
      assert.equal(answer.body.success, true);
      await frames.until('the answer', ({ action, source }) => action === 'message' && source === 'agent');
    },
  },
  {
    id: 'v0-rest/post-message',
    title: '`POST …/message` says something to the agent',
    cites: ['SV10'],
    async run(target) {
      const id = await target.converse();
      const { frames } = target.connect.socketIo({ query: { conversation_id: id, latest_event_id: '-1' } });
      await frames.until('readiness', isState('awaiting_user_input'));
      const answer = await target.ask('POST', `/api/conversations/${id}/message`, {
        body: { message: target.model.script([{ text: 'heard' }]) },
      });
      hasStatus(answer, 200);
      assert.equal(answer.body.success, true);
      await frames.until('the answer', ({ action, source }) => action === 'message' && source === 'agent');
    },
  },
  {
    id: 'v0-rest/trajectory',
    title: 'the trajectory has the events from the beginning, without what only a browser needs',
    cites: ['SV33', 'S1'],
    shares: 'recorded',
    async run(target) {
      const answer = await target.ask('GET', `/api/conversations/${await target.shared(recorded)}/trajectory`);
      hasStatus(answer, 200);
      const events = answer.body.trajectory as unknown as readonly Frame[];
      assert.ok(events.some(({ action }) => action === 'message'));
      assert.ok(events.some(({ observation }) => observation === 'run'));
      assert.ok(!answer.text.includes('"axtree_object"'));
    },
  },
  {
    id: 'v0-rest/whole-trajectory',
    title: 'the trajectory of sixty events has each once, in order and with its cause',
    cites: ['SV33', 'EL1'],
    shares: 'long-turn',
    async run(target) {
      const { id } = await target.shared(longTurn);
      const { body } = await target.ask('GET', `/api/conversations/${id}/trajectory`);
      isWhole(body.trajectory as unknown as readonly Frame[], 'the trajectory');
    },
  },
  {
    id: 'v0-rest/trajectory-answers',
    title: 'in a trajectory every action has the whole answer of the model that it came from, with all its calls',
    cites: ['DL171', 'G8'],
    async run(target) {
      const ready = await joinNew(target);
      const calls = ['true', 'true;'].map((command) => ({ call: 'execute_bash', args: { command } }));
      await turn(target, ready, [{ calls }]);
      const { body } = await target.ask('GET', `/api/conversations/${ready.id}/trajectory`);
      const actions = (body.trajectory as unknown as readonly Frame[]).filter(({ action, tool_call_metadata: call }) => action && call);
      assert.equal(actions.length, 2);
      for (const { tool_call_metadata } of actions) {
        const { model_response } = tool_call_metadata as { model_response: { choices: readonly { message: Frame }[] } };
        assert.equal((model_response.choices[0]!.message.tool_calls as readonly unknown[]).length, 2, JSON.stringify(model_response));
      }
    },
  },
  {
    id: 'v0-rest/replay',
    title: 'a trajectory that is given back as `replay_json` is done again',
    cites: ['SV30', 'DL41'],
    shares: 'recorded',
    async run(target) {
      const { body } = await target.ask('GET', `/api/conversations/${await target.shared(recorded)}/trajectory`);
      const events = body.trajectory as unknown as readonly Frame[];
      const fromMessage = events.slice(events.findIndex(({ action, source }) => action === 'message' && source === 'user'));
      const id = await target.converse({ replay_json: JSON.stringify(fromMessage) });
      const { frames } = target.connect.socketIo({ query: { conversation_id: id, latest_event_id: '-1' } });
      const observation = await frames.until('the observation', (frame) => frame.observation === 'run');
      assert.match(String(observation.content), /recorded/);
    },
  },
  {
    id: 'v0-rest/panels',
    title: '`config`, `web-hosts`, `vscode-url` and `microagents` have the shapes that panels read',
    cites: ['SV10', 'SV34'],
    shares: 'recorded',
    async run(target) {
      const base = `/api/conversations/${await target.shared(recorded)}`;
      const config = await target.ask('GET', `${base}/config`);
      hasTypes(config.body, { runtime_id: 'string|null', session_id: 'string' }, 'config');
      hasTypes((await target.ask('GET', `${base}/web-hosts`)).body, { hosts: 'object' }, 'web-hosts');
      hasTypes((await target.ask('GET', `${base}/vscode-url`)).body, { vscode_url: 'string|null' }, 'vscode-url');
      hasTypes((await target.ask('GET', `${base}/microagents`)).body, { microagents: 'array' }, 'microagents');
    },
  },
  {
    id: 'v0-rest/feedback',
    title: 'feedback is taken and answered in `body`, where every frontend reads it',
    cites: ['SV35', 'SV150'],
    shares: 'recorded',
    async run(target) {
      const body = { email: 'a@example.com', version: '1.0', permissions: 'private', polarity: 'positive' };
      const answer = await target.ask('POST', `/api/conversations/${await target.shared(recorded)}/submit-feedback`, { body });
      hasStatus(answer, 200);
      hasTypes(answer.body.body, { message: 'string', feedback_id: 'string', password: 'string' }, 'feedback.body');
    },
  },
  {
    id: 'v0-rest/analyzer',
    title: 'an analyzer that is not there is 404 with `detail`',
    cites: ['SV10'],
    async run(target) {
      const answer = await target.ask('GET', `/api/conversations/${await target.converse()}/security/settings`);
      hasStatus(answer, 404);
      hasTypes(answer.body, { detail: 'string' }, 'answer');
    },
  },
];
