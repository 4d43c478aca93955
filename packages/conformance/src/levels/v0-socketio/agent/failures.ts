import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Check } from '../../../check.ts';
import { extrasOf, isState, type Frame } from '../../../target/frames.ts';
import type { ModelStep } from '../../../model/model-step.ts';
import type { Target } from '../../../target/target.ts';
import { begin, change, request, rested, spoken } from './talk.ts';

interface Failure {
  readonly id: string;
  readonly title: string;
  readonly cites: readonly string[];
  readonly step: ModelStep;
}

const HALF = `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', choices: [{ index: 0, delta: { role: 'assistant', content: 'half an ans' }, finish_reason: null }] })}\n\n`;

/** Failures after which the server asks again. */
const PASSING: readonly Failure[] = [
  { id: 'broken', title: 'an answer that breaks off before it ended', cites: ['LM10'], step: { bytes: HALF } },
  { id: 'empty', title: 'an empty answer', cites: ['LM11'], step: { text: '' } },
  {
    id: 'garbage',
    title: 'a stream that is not what the protocol says',
    cites: ['LM14'],
    step: { bytes: 'data: {"choices": 7}\n\ndata: nonsense\n\n' },
  },
  { id: 'unavailable', title: 'an endpoint that is down for a moment', cites: ['LM30'], step: { status: 503 } },
  { id: 'rate-limit', title: 'a rate limit with `Retry-After`', cites: ['LM31'], step: { status: 429, headers: { 'retry-after': '1' } } },
];

const passing = ({ id, title, cites, step }: Failure): Check => ({
  id: `v0-socketio/model-${id}`,
  title: `${title} is asked for again, and nothing of it is recorded`,
  cites,
  async run(target) {
    const { frames } = await spoken(target, [step, { text: 'recovered' }]);
    const words = frames
      .filter(({ action, source }) => action === 'message' && source === 'agent')
      .map(({ args }) => (args as Frame).content);
    assert.deepEqual(words, ['recovered']);
  },
});

/** Failures after which it does not. */
const LASTING: readonly Failure[] = [
  { id: 'key', title: 'a refused key', cites: ['LM20', 'EN86'], step: { status: 401 } },
  {
    id: 'credit',
    title: 'an account without credit, though its status is a rate limit’s',
    cites: ['LM20', 'LM21'],
    step: { status: 429, code: 'insufficient_quota', says: 'You exceeded your current quota' },
  },
  { id: 'unknown', title: 'an unknown model', cites: ['LM20'], step: { status: 404, code: 'model_not_found' } },
  {
    id: 'policy',
    title: 'a request that the provider’s policy refuses',
    cites: ['LM20'],
    step: { status: 400, code: 'content_policy_violation', says: 'Your request was rejected by the safety system' },
  },
  { id: 'filter', title: 'an answer that a content filter held back', cites: ['LM13'], step: { text: '', reason: 'content_filter' } },
  { id: 'long-wait', title: 'a wait of more than a day', cites: ['LM35'], step: { status: 429, headers: { 'retry-after': '100000' } } },
];

const lasting = ({ id, title, cites, step }: Failure): Check => ({
  id: `v0-socketio/model-${id}`,
  title: `${title} is the state \`error\` with a reason, asked for once; the next message tries again`,
  cites,
  async run(target) {
    const talk = await begin(target, [step]);
    const frames = await rested(target, talk, 'error');
    assert.ok(String(extrasOf(frames.findLast(isState('error'))!).reason).length > 0, 'extras.reason is empty');
    assert.equal(target.model.requests(talk.words).length, 1);
    await spoken(target, [{ text: 'well again' }], { ready: talk.ready });
  },
});

/** Another server, to which a redirect would lead; how often it was asked. */
async function otherServer(target: Target): Promise<{ readonly url: string; readonly asked: () => number }> {
  let count = 0;
  const server = createServer((_request, response) => (count++, response.end('{}')));
  target.defer(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`, asked: () => count };
}

/** How an agent handles a provider that fails. */
export const failures: readonly Check[] = [
  ...PASSING.map(passing),
  ...LASTING.map(lasting),
  {
    id: 'v0-socketio/model-key-hidden',
    title: 'the key is in no frame, though the provider repeats it in its refusal',
    cites: ['LM22', 'EN70'],
    async run(target) {
      const key = target.model.initializeArgs.LLM_API_KEY!;
      const frames = await rested(target, await begin(target, [{ status: 401, says: `Incorrect API key provided: ${key}.` }]), 'error');
      assert.ok(!JSON.stringify(frames).includes(key), 'the key is in a frame');
    },
  },
  {
    id: 'v0-socketio/model-redirect',
    title: 'a redirect of the provider is not followed: the key would go along',
    cites: ['LM23'],
    async run(target) {
      const { url, asked } = await otherServer(target);
      const talk = await begin(target, [{ status: 307, headers: { location: url } }, { text: 'well' }]);
      await rested(target, talk, 'error', 'awaiting_user_input');
      assert.equal(asked(), 0);
    },
  },
  {
    id: 'v0-socketio/model-pause-shown',
    title: 'before a pause the failure and the time of the next attempt are sent: the state `rate_limited` with both',
    cites: ['EN88', 'LM32', 'LM33'],
    async run(target) {
      const frames = await rested(target, await begin(target, [{ status: 429 }, { text: 'well' }]));
      const waiting = frames.find(isState('rate_limited'));
      assert.ok(waiting, 'the state was not sent');
      const { reason, resumes_at: until } = extrasOf(waiting);
      assert.ok(String(reason).length > 0, 'extras.reason is empty');
      assert.ok(!Number.isNaN(Date.parse(String(until))), `extras.resumes_at is ${String(until)}`);
    },
  },
  {
    id: 'v0-socketio/model-pause-ended',
    title: 'stopping ends a pause at once',
    cites: ['LM34', 'AS7'],
    async run(target) {
      const talk = await begin(target, [{ status: 429, headers: { 'retry-after': '600' } }]);
      const { frames, send } = talk.ready.peer;
      await frames.until('rate_limited', isState('rate_limited'), { from: talk.from });
      send(change('stopped'));
      await frames.until('stopped', isState('stopped'), { from: talk.from });
      assert.equal(target.model.requests(talk.words).length, 1);
    },
  },
  {
    id: 'v0-socketio/model-call-stopped',
    title: 'stopping ends a request to the model that hangs and closes its connection; a message begins anew',
    cites: ['EN17', 'LM4'],
    async run(target) {
      const talk = await begin(target, [{ text: 'never sent', after: new Promise(() => {}) }]);
      await request(target, talk, 0);
      const { frames, send } = talk.ready.peer;
      send(change('stopped'));
      await frames.until('stopped', isState('stopped'), { from: talk.from });
      await target.eventually('end of the request', () => target.model.abandoned(talk.words) > 0);
      await spoken(target, [{ text: 'anew' }], { ready: talk.ready });
    },
  },
  {
    id: 'v0-socketio/model-call-paused',
    title: 'pausing ends a request to the model, and what it says later is not recorded; resuming asks again',
    cites: ['EN15'],
    async run(target) {
      const gate = Promise.withResolvers<void>();
      const talk = await begin(target, [{ text: 'too late', after: gate.promise }, { text: 'asked again' }]);
      await request(target, talk, 0);
      const { frames, send } = talk.ready.peer;
      send(change('paused'));
      await frames.until('paused', isState('paused'), { from: talk.from });
      gate.resolve();
      send(change('running'));
      const seen = await rested(target, talk);
      const words = seen
        .filter(({ action, source }) => action === 'message' && source === 'agent')
        .map(({ args }) => (args as Frame).content);
      assert.deepEqual(words, ['asked again']);
    },
  },
];
