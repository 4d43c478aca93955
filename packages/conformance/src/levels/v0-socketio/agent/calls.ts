import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { isObservation, isState, type Frame } from '../../../target/frames.ts';
import type { ModelCall } from '../../../model/model-step.ts';
import { has, inShared, textOf, textOfRequest, bash, begin, FINISH, request, rested, spoken } from './talk.ts';

interface Misfit extends ModelCall {
  readonly id: string;
  readonly title: string;
  readonly cites: readonly string[];
  readonly answered: RegExp;
}

/** Calls that cannot run: nothing runs, and the next request to the model has the reason. */
const MISFITS: readonly Misfit[] = [
  { id: 'call-argument', title: 'a missing argument is named', cites: ['EN50'], call: 'execute_bash', args: {}, answered: /command/ },
  {
    id: 'call-unknown',
    title: 'an unknown tool is answered with the tools there are',
    cites: ['EN51'],
    call: 'no_such_tool',
    args: {},
    answered: /no_such_tool[^]*execute_bash|execute_bash[^]*no_such_tool/,
  },
  {
    id: 'call-no-json',
    title: 'arguments that are no JSON become no action',
    cites: ['EN52', 'LM15'],
    call: 'execute_bash',
    args: '{"command": "touch ran',
    answered: /\S/,
  },
  {
    id: 'call-no-object',
    title: 'arguments that are JSON and no object become no action, and are shown inside one',
    cites: ['EN52', 'EN39'],
    call: 'execute_bash',
    args: '["touch ran"]',
    answered: /\S/,
  },
];

const misfit = ({ id, title, cites, answered, ...call }: Misfit): Check => ({
  id: `v0-socketio/${id}`,
  title: `${title}; the model is shown it, and the turn goes on`,
  cites,
  async run(target) {
    const talk = await spoken(target, [call, { text: 'understood' }]);
    const second = await request(target, talk, 1);
    assert.match(textOf(second.messages.at(-1)!), answered);
    for (const { tool_calls: calls = [] } of second.messages)
      for (const { function: called } of calls)
        assert.ok(typeof JSON.parse(called.arguments) === 'object' && called.arguments.startsWith('{'), called.arguments);
    assert.deepEqual(
      talk.frames.filter(({ observation }) => observation === 'run'),
      [],
    );
  },
});

/** What the engine makes of a model's calls. */
export const calls: readonly Check[] = [
  ...MISFITS.map(misfit),
  {
    id: 'v0-socketio/call-as-text',
    title: 'numbers and booleans written as text are taken, and `null` counts as not given',
    cites: ['EN53'],
    shares: 'talk',
    async run(target) {
      const steps = [bash('echo taken', { timeout: '20', is_input: 'false' }), bash('echo too', { timeout: null })];
      const { frames } = await spoken(target, steps, await inShared(target));
      assert.deepEqual(
        frames.filter(({ observation }) => observation === 'run').map(({ content }) => String(content).trim()),
        ['taken', 'too'],
      );
    },
  },
  {
    id: 'v0-socketio/call-question',
    title: 'a question offers its choices, the agent waits, and the model is shown the answer after the question',
    cites: ['EN766'],
    async run(target) {
      const ask = { call: 'ask_user', args: { question: 'which-one', choices: ['this-one', 'that-one'] } };
      const talk = await begin(target, [ask]);
      const frames = await rested(target, talk, 'awaiting_user_input');
      const asked = frames.find(({ action, source }) => action === 'message' && source === 'agent')?.args as Frame | undefined;
      assert.deepEqual(asked?.choices, ['this-one', 'that-one']);
      for (const words of ['which-one', 'this-one', 'that-one']) assert.ok(String(asked.content).includes(words));
      const next = await spoken(target, [{ text: 'taken' }], { ready: talk.ready });
      const { messages } = await request(target, next, 0);
      assert.deepEqual(
        messages.slice(-3).map(({ role }) => role),
        ['assistant', 'tool', 'user'],
      );
      assert.ok(textOf(messages.at(-1)!).includes(next.words));
    },
  },
  {
    id: 'v0-socketio/calls-of-one-answer',
    title: 'several calls of one answer are carried out in order and shown to the model as one message with a result each',
    cites: ['EN81', 'EN37', 'EN38'],
    shares: 'talk',
    async run(target) {
      const steps = [{ text: 'two at once', calls: [bash('echo one'), bash('echo two')] }, { text: 'seen' }];
      const talk = await spoken(target, steps, await inShared(target));
      assert.deepEqual(
        talk.frames.filter(({ observation }) => observation === 'run').map(({ content }) => String(content).trim()),
        ['one', 'two'],
      );
      const { messages } = await request(target, talk, 1);
      const asked = messages.findLast(({ tool_calls: made }) => made?.length === 2);
      assert.ok(asked, 'the two calls are not one message');
      for (const { id } of asked.tool_calls!) assert.equal(messages.filter(({ tool_call_id: of }) => of === id).length, 1);
      const costs = talk.frames.filter(({ action }) => action === 'run').map(({ llm_metrics: metrics }) => metrics !== undefined);
      assert.equal(costs[0], true, 'the first action has no llm_metrics');
    },
  },
  {
    id: 'v0-socketio/calls-same-id',
    title: 'calls with the same id each get their own result',
    cites: ['EN98'],
    shares: 'talk',
    async run(target) {
      const sameId = ['first-of-two', 'second-of-two'].map((words) => ({ ...bash(`echo ${words}`), id: 'same' }));
      const talk = await spoken(target, [{ calls: sameId }, { text: 'seen' }], await inShared(target));
      const second = await request(target, talk, 1);
      for (const words of ['first-of-two', 'second-of-two'])
        assert.ok(
          second.messages.some((one) => one.role === 'tool' && textOf(one).includes(words)),
          `no result has ${words}`,
        );
    },
  },
  {
    id: 'v0-socketio/call-after-finish',
    title: 'a call after `finish` in the same answer is not executed',
    cites: ['EN82'],
    async run(target) {
      const { frames } = await spoken(target, [{ calls: [FINISH, bash('echo too late')] }]);
      assert.deepEqual(
        frames.filter(({ observation, content }) => observation === 'run' && String(content).trim() === 'too late'),
        [],
      );
      assert.ok(frames.some(isState('finished')), 'the task did not end');
    },
  },
  {
    id: 'v0-socketio/call-with-finish',
    title: 'an answer with a call that cannot be understood does not end the task',
    cites: ['EN83'],
    async run(target) {
      const talk = await spoken(target, [{ calls: [{ call: 'no_such_tool', args: {} }, FINISH] }, { text: 'goes on' }]);
      has(await request(target, talk, 1), 'no_such_tool');
      assert.ok(!talk.frames.some(isState('finished')), 'the task ended');
    },
  },
  {
    id: 'v0-socketio/calls-hopeless',
    title: 'a model whose answers cannot be understood again and again is stopped in the state `error`, with words',
    cites: ['EN84', 'Q9'],
    async run(target) {
      const talk = await begin(
        target,
        Array.from({ length: 12 }, (_, n) => ({ call: `no_such_tool_${n}`, args: {} })),
      );
      const frames = await rested(target, talk, 'error');
      assert.ok(String((frames.findLast(isState('error'))!.extras as { reason?: string }).reason).length > 0);
      assert.ok(target.model.requests(talk.words).length <= 10, `${target.model.requests(talk.words).length} requests`);
    },
  },
  {
    id: 'v0-socketio/call-cut-off',
    title: 'the calls of an answer that was cut off are not carried out',
    cites: ['EN85', 'LM12'],
    async run(target) {
      const talk = await spoken(target, [{ ...bash('echo half'), reason: 'length' }, { text: 'again' }]);
      assert.deepEqual(
        talk.frames.filter(({ observation }) => observation === 'run'),
        [],
      );
    },
  },
  {
    id: 'v0-socketio/call-thought-over',
    title: 'what the model thought before a call goes back to it with the next request, and clients are sent it',
    cites: ['LM710', 'LM713'],
    shares: 'talk',
    async run(target) {
      const reasoning = 'First I weigh the two ways, then I look.';
      const talk = await spoken(target, [{ ...bash('true'), reasoning }, { text: 'seen' }], await inShared(target));
      assert.ok(JSON.stringify(await request(target, talk, 1)).includes(reasoning), 'the model was not sent its reasoning');
      assert.deepEqual(
        talk.frames.flatMap(({ reasoning_content: text }) => text ?? []),
        [reasoning],
      );
    },
  },
  {
    id: 'v0-socketio/calls-repeated',
    title: 'the same failing step over and over halts the agent and asks the user',
    cites: ['EN91'],
    async run(target) {
      const talk = await begin(
        target,
        Array.from({ length: 12 }, () => bash('ls /no/such/folder')),
      );
      await rested(target, talk, 'awaiting_user_input', 'error', 'paused');
      const asked = target.model.requests(talk.words).length;
      assert.ok(asked < 12, `the model was asked ${asked} times`);
    },
  },
  {
    id: 'v0-socketio/finish-checked',
    title: 'what the user wants to pass is run before a task is finished; where it fails the agent goes on, once',
    cites: ['EN860', 'EN861'],
    isAlone: true,
    async run(target) {
      const store = async (finish_checks: readonly string[]): Promise<void> =>
        void (await target.ask('POST', '/api/settings', { body: { finish_checks } }));
      target.defer(() => store([]));
      await store(['test -e mended || { echo "not there yet"; exit 1; }']);
      const talk = await begin(target, [FINISH, bash('touch mended'), FINISH]);
      await rested(target, talk, 'finished');
      has(await request(target, talk, 1), 'not there yet');
      assert.equal(target.model.requests(talk.words).length, 3);
    },
  },
  {
    id: 'v0-socketio/calls-in-a-circle',
    title:
      'an agent that alternates between two failing steps is given a hint, halted, and goes on from before the circle when a client says so',
    cites: ['EN857', 'EN858', 'EN859'],
    async run(target) {
      const steps = Array.from({ length: 8 }, (_, n) => bash(n % 2 ? 'ls /no/such/folder' : 'ls /no/other/folder'));
      const talk = await begin(target, [...steps, FINISH]);
      const seen = await rested(target, talk, 'awaiting_user_input');
      const loops = seen.filter(isObservation('loop_detection'));
      assert.deepEqual(
        loops.map(({ extras }) => extras),
        [{ hint: true }, {}],
      );
      has(await request(target, talk, 6), 'leads nowhere');
      const from = talk.ready.peer.frames.all.length;
      talk.ready.peer.send({ action: 'loop_recovery', args: { option: 1 } });
      await talk.ready.peer.frames.until('the end', isState('finished'), { from });
      assert.ok(!textOfRequest(await request(target, talk, 8)).includes('/no/such/folder'), 'the circle is still shown');
    },
  },
  {
    id: 'v0-socketio/call-overtaken',
    title: 'an answer that did not see the user’s last word cannot end the task',
    cites: ['EN97', 'EN13'],
    async run(target) {
      const gate = Promise.withResolvers<void>();
      const talk = await begin(target, [{ ...FINISH, after: gate.promise }, { text: 'heard the addition' }]);
      await request(target, talk, 0);
      const { frames, send } = talk.ready.peer;
      send({ action: 'message', args: { content: 'an addition in time' } });
      await frames.until('the echo', ({ args }) => (args as { content?: string } | undefined)?.content === 'an addition in time');
      gate.resolve();
      has(await request(target, talk, 1), 'an addition in time');
    },
  },
];
