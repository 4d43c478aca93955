import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, extrasOf, isAction, isObservation, type Frame } from '../../target/frames.ts';
import type { ModelStep } from '../../model/model-step.ts';
import type { Peer, Target } from '../../target/target.ts';
import { hasTypes } from '../shapes.ts';
import { NAMES, addressOf, enter, say, type Generation } from './session.ts';

const FINISH: ModelStep = { call: 'finish', args: { message: 'the last words', task_completed: 'true' } };
const LATER = ['w3', 'w4', 'w5'] as const;
const isEvent = (frame: Frame): boolean => typeof (frame.action ?? frame.observation) === 'string' && frame.action !== 'initialize';
const stateOf = (frame: Frame): string => String(extrasOf(frame).agent_state);

async function playSteps(target: Target, generation: Generation, steps: readonly ModelStep[]): Promise<{ peer: Peer; token: string }> {
  const session = await enter(target, generation);
  say(session.peer, generation, target.model.script([...steps, FINISH]));
  await session.peer.frames.until('finish', isAction('finish'));
  return session;
}

const EDITOR = (args: object): ModelStep => ({ call: 'str_replace_editor', args: { path: '/tmp/conformance-legacy.txt', ...args } });

/** The keys that frontends of that time read, under `args` or `extras`. */
const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'action run': { command: 'string', background: 'boolean', thought: 'string' },
  'action run_ipython': { code: 'string', thought: 'string' },
  'action finish': { outputs: 'object', thought: 'string' },
  'observation run': { command: 'string', command_id: 'number', exit_code: 'number' },
  'observation run_ipython': { code: 'string' },
  'observation agent_state_changed': { agent_state: 'string' },
};

const facts = (generation: (typeof LATER)[number]): Check => ({
  id: `ws-legacy/${generation}-facts`,
  title: `frames of ${NAMES[generation]} have ids, UTC times, the sources \`agent\` and \`user\`, and the keys of their time`,
  cites: ['DL60', 'DL61', 'DL64'],
  async run(target) {
    const { peer } = await playSteps(target, generation, [
      { call: 'execute_bash', args: { command: 'echo one' }, text: 'a thought' },
      { call: 'execute_ipython_cell', args: { code: 'print(1)', timeout: 60 } },
    ]);
    for (const frame of peer.frames.all.filter(isEvent)) {
      const name = frame.action === undefined ? `observation ${String(frame.observation)}` : `action ${String(frame.action)}`;
      assert.ok(
        frame.source === undefined || ['agent', 'user'].includes(String(frame.source)),
        `${name} has source ${String(frame.source)}`,
      );
      if (frame.timestamp !== undefined) assert.ok(!Number.isNaN(Date.parse(String(frame.timestamp))), String(frame.timestamp));
      if (KEYS[name]) hasTypes(frame.args ?? frame.extras, KEYS[name], name);
    }
    const ids = peer.frames.all.filter(isEvent).flatMap(({ id }) => (typeof id === 'number' ? [id] : []));
    assert.ok(ids.length > 0, 'no frame has an id');
    const states = peer.frames.all.filter(isObservation('agent_state_changed')).map(stateOf);
    assert.ok(states.includes('running') && !states.includes('rate_limited'), `states ${states.join()}`);
  },
});

/** What opendevin-2024-04 to opendevin-2024-11 make of what their frontends cannot show otherwise. */
export const legacyFrames: readonly Check[] = [
  ...LATER.map(facts),
  {
    id: 'ws-legacy/w4-replay-states',
    title: 'states are not replayed: the current state is sent after `initialize`, without an id',
    cites: ['DL63'],
    async run(target) {
      const { token } = await playSteps(target, 'w4', []);
      const back = await target.connect.webSocket(addressOf('w4', token));
      back.send({ action: 'initialize', args: { LLM_MODEL: 'openai/gpt-4o', AGENT: 'CodeActAgent', LANGUAGE: 'en', LLM_API_KEY: '' } });
      await back.frames.until('the state', (frame) => stateOf(frame) === 'finished');
      const states = back.frames.all.filter(isObservation('agent_state_changed'));
      assert.ok(
        states.every(({ id }) => id === undefined || id === -1),
        'a state has an id',
      );
      assert.ok(!states.some((frame) => stateOf(frame) === 'running'), 'earlier states were replayed');
    },
  },
  {
    id: 'ws-legacy/w4-rate-limit',
    title: 'a state of a later release is sent as the nearest one: `running` while the model is rate limited',
    cites: ['DL64'],
    async run(target) {
      const { peer } = await playSteps(target, 'w4', [{ status: 429 }]);
      const states = peer.frames.all.filter(isObservation('agent_state_changed')).map(stateOf);
      assert.ok(!states.includes('rate_limited'), `states ${states.join()}`);
    },
  },
  {
    id: 'ws-legacy/w4-edit',
    title: 'an edit is sent before it happens, and its observation brings a `write` with the new content',
    cites: ['DL65'],
    async run(target) {
      const made = EDITOR({ command: 'create', file_text: 'one\n' });
      const { peer } = await playSteps(target, 'w4', [made, EDITOR({ command: 'str_replace', old_str: 'one', new_str: 'two' })]);
      assert.ok(
        peer.frames.all.some((frame) => isAction('write')(frame) && argsOf(frame).content === 'two\n'),
        'no write has the new content',
      );
    },
  },
  {
    id: 'ws-legacy/w4-words',
    title: 'thoughts come as a `message` before their action, the last words as the `message` of `finish`',
    cites: ['DL66'],
    async run(target) {
      const { peer } = await playSteps(target, 'w4', [{ call: 'execute_bash', args: { command: 'true' }, text: 'a thought of its own' }]);
      assert.match(JSON.stringify(peer.frames.all), /a thought of its own/);
      const finish = peer.frames.all.find(isAction('finish'));
      assert.match(String(finish?.message), /the last words/);
    },
  },
  {
    id: 'ws-legacy/w4-failure',
    title: 'a failure is an error frame before opendevin-2024-11, and a status update for opendevin-2024-11',
    cites: ['DL67'],
    async run(target) {
      for (const generation of ['w4', 'w5'] as const) {
        const { peer } = await enter(target, generation);
        say(peer, generation, target.model.script([{ status: 401 }]));
        const isFailure =
          generation === 'w4'
            ? ({ error }: Frame) => error !== undefined
            : ({ status_update: is, type }: Frame) => is === true && type === 'error';
        await peer.frames.until(`the failure at ${generation}`, isFailure);
      }
    },
  },
  {
    id: 'ws-legacy/w2-follow-up',
    title: 'a follow-up of opendevin-2024-05 is answered by the state alone',
    cites: ['DL71'],
    async run(target) {
      const { peer } = await playSteps(target, 'w2', []);
      const from = peer.frames.all.length;
      peer.send({ action: 'user_message', args: { message: target.model.script([{ text: 'heard' }]) } });
      await peer.frames.until('the state', isAction('change_task_state'), { from });
      assert.ok(!peer.frames.all.slice(from).some(({ message }) => message === 'Starting new task...'), 'it was sent a new task');
    },
  },
  {
    id: 'ws-legacy/w4-steps',
    title: 'the bound on steps of `initialize` is the state `error` with words; resuming gives as many again',
    cites: ['EN89', 'DL88'],
    async run(target) {
      const peer = await target.connect.webSocket(addressOf('w4', undefined));
      peer.send({
        action: 'initialize',
        args: { ...target.model.initializeArgs, AGENT: 'CodeActAgent', MAX_ITERATIONS: 2, CONFIRMATION_MODE: false, SECURITY_ANALYZER: '' },
      });
      const isState = (name: string) => (frame: Frame) => stateOf(frame) === name;
      await peer.frames.until('readiness', isState('init'));
      const words = target.model.script([1, 2, 3, 4, 5, 6].map((n) => ({ call: 'execute_bash', args: { command: `echo ${n}` } })));
      say(peer, 'w4', words);
      const bound = await peer.frames.until('the bound', isState('error'));
      assert.equal(target.model.requests(words).length, 2);
      peer.send({ action: 'change_agent_state', args: { agent_state: 'running' } });
      await peer.frames.until('the second bound', isState('error'), { from: peer.frames.all.indexOf(bound) + 1 });
      assert.equal(target.model.requests(words).length, 4);
    },
  },
];
