import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, extrasOf, isAction, isObservation, type Frame } from '../../target/frames.ts';
import type { ModelStep } from '../../model/model-step.ts';
import { hasStatus } from '../shapes.ts';
import { ANSWER, idsOf, isTheRest, isWhole } from '../whole-history.ts';
import { NAMES, addressOf, enter, GENERATIONS, initialize, say, type Generation } from './session.ts';

const ECHO: ModelStep = { call: 'execute_bash', args: { command: 'echo conformance' } };
const FINISH: ModelStep = { call: 'finish', args: { message: 'ready', task_completed: 'true' } };
/** opendevin-2024-11 is given the command before its output. */
const ran = (frame: Frame): boolean => isObservation('run')(frame) && /(^|\n)conformance$/.test(String(frame.content).trim());

const aTask = (generation: Generation): Check => ({
  id: `ws-legacy/${generation}-task`,
  title: `a client of ${NAMES[generation]} identifies itself, initializes, gives a task, sees it run and finish`,
  cites: ['DL80', 'DL81', 'DL83', 'DL88', 'DL25'],
  async run(target) {
    const { peer } = await enter(target, generation);
    say(peer, generation, target.model.script([ECHO, FINISH]));
    const observation = await peer.frames.until('the observation', ran);
    assert.equal(extrasOf(observation).exit_code, 0);
    await peer.frames.until('finish', isAction('finish'));
  },
});

const aReturn = (generation: Generation): Check => ({
  id: `ws-legacy/${generation}-resume`,
  title: `a client of ${NAMES[generation]} that was cut off comes back by its token and gets what it missed, once`,
  cites: ['DL83', 'DL84', 'DL90', 'SV12'],
  async run(target) {
    const { peer, token } = await enter(target, generation);
    say(peer, generation, target.model.script([{ call: 'execute_bash', args: { command: 'sleep 1; echo conformance' } }, FINISH]));
    const action = await peer.frames.until('the action', isAction('run'));
    peer.close();
    const back = await target.connect.webSocket(addressOf(generation, token, typeof action.id === 'number' ? action.id : undefined));
    initialize(target, back);
    await back.frames.until('finish', isAction('finish'));
    assert.equal(back.frames.all.filter(ran).length, 1);
  },
});

/** opendevin-2024-04 to opendevin-2024-11: one task and one return of each. */
export const generations: readonly Check[] = GENERATIONS.flatMap((generation) => [aTask(generation), aReturn(generation)]);

export const peculiar: readonly Check[] = [
  {
    id: 'ws-legacy/every-cursor',
    title:
      'sixty events reach a client of opendevin-2024-07 and of opendevin-2024-11 once, in order and with their causes; one that comes back is sent exactly the rest',
    cites: ['DL84', 'DL90', 'SV12'],
    async run(target) {
      for (const generation of ['w4', 'w5'] as const) {
        const { peer, token } = await enter(target, generation);
        say(peer, generation, target.model.script([ANSWER, FINISH]));
        const last = await peer.frames.until('finish', isAction('finish'));
        isWhole(peer.frames.all, `a client of ${NAMES[generation]}`);
        const all = idsOf(peer.frames.all);
        peer.close();
        for (const after of [all[5]!, all[30]!]) {
          const back = await target.connect.webSocket(addressOf(generation, token, after));
          initialize(target, back);
          await back.frames.until('the last event', ({ id }) => id === last.id);
          isTheRest(idsOf(back.frames.all), {
            after,
            all: all.filter((id) => id <= Number(last.id)),
            who: `a client of ${NAMES[generation]} that came back`,
          });
          back.close();
        }
      }
    },
  },
  {
    id: 'ws-legacy/w1-rest',
    title: 'opendevin-2024-04 resumes over REST: totals, the frames of both directions, files as a tree; `DELETE` begins anew',
    cites: ['DL85', 'DL86'],
    async run(target) {
      const { peer, token } = await enter(target, 'w1');
      const headers = { authorization: `Bearer ${token}` };
      say(peer, 'w1', target.model.script([{ call: 'execute_bash', args: { command: 'echo x > conformance.txt' } }, FINISH]));
      await peer.frames.until('finish', isAction('finish'));
      const { body } = await target.ask('GET', '/api/messages', { headers });
      const messages = body.messages as unknown as readonly { role: string; payload: Frame }[];
      assert.ok(messages.some(({ role, payload }) => role === 'user' && payload.action === 'start'));
      assert.ok(messages.some(({ role, payload }) => role === 'assistant' && payload.action === 'finish'));
      assert.deepEqual((await target.ask('GET', '/api/messages/total', { headers })).body, { msg_total: messages.length });
      const tree = (await target.ask('GET', '/api/refresh-files', { headers })).body;
      assert.ok((tree.children as unknown as readonly { name: string }[]).some(({ name }) => name === 'conformance.txt'));
      assert.deepEqual((await target.ask('DELETE', '/api/messages', { headers })).body, { ok: true });
      assert.deepEqual((await target.ask('GET', '/api/messages/total', { headers })).body, { msg_total: 0 });
    },
  },
  {
    id: 'ws-legacy/w2-states',
    title:
      'opendevin-2024-05 hears states as `change_task_state`, is refused what its state does not allow, and goes on with `user_message`',
    cites: ['DL70', 'AS5'],
    async run(target) {
      const { peer } = await enter(target, 'w2');
      say(peer, 'w2', target.model.script([FINISH]));
      const isState = (state: string) => (frame: Frame) => isAction('change_task_state')(frame) && argsOf(frame).task_state === state;
      await peer.frames.until('finished', isState('finished'));
      peer.send({ action: 'change_task_state', args: { task_state_action: 'pause' } });
      await peer.frames.until('the refusal', ({ error }) => error === true);
      const from = peer.frames.all.length;
      peer.send({ action: 'user_message', args: { message: target.model.script([ECHO, FINISH]) } });
      await peer.frames.until('the observation', ran, { from });
      assert.deepEqual(peer.frames.all.slice(from).filter(isObservation('agent_state_changed')), []);
    },
  },
  {
    id: 'ws-legacy/w4-token-first',
    title: 'opendevin-2024-07 and opendevin-2024-11 are sent `{token, status}` first, a JWT with `sid`; opendevin-2024-11 its subprotocol',
    cites: ['DL83', 'DL82'],
    async run(target) {
      for (const generation of ['w4', 'w5'] as const) {
        const peer = await target.connect.webSocket(addressOf(generation, undefined));
        const first = await peer.frames.until('a frame', () => true);
        assert.equal(first.status, 'ok', JSON.stringify(first));
        const payload = JSON.parse(Buffer.from(String(first.token).split('.')[1] ?? '', 'base64url').toString()) as Frame;
        assert.ok(typeof payload.sid === 'string' && payload.sid.length > 0, JSON.stringify(payload));
      }
    },
  },
  {
    id: 'ws-legacy/bad-token',
    title: 'a token of another server is refused with `Invalid token` with code 401, and the socket is closed',
    cites: ['DL82', 'SV13'],
    async run(target) {
      for (const generation of ['w4', 'w5'] as const) {
        const peer = await target.connect.webSocket(addressOf(generation, 'not.a.token'));
        await peer.ended;
        assert.deepEqual(peer.frames.all, [{ error: 'Invalid token', error_code: 401 }]);
      }
    },
  },
  {
    id: 'ws-legacy/w5-protocols',
    title: 'opendevin-2024-11 with fewer than three subprotocols is closed with 1008',
    cites: ['DL82'],
    async run(target) {
      const peer = await target.connect.webSocket({ protocols: ['openhands', 'NO_JWT'] });
      assert.match(await peer.ended, /^1008/);
    },
  },
  {
    id: 'ws-legacy/w4-live',
    title:
      'opendevin-2024-07’s own message is not echoed live, but replayed with source `user`; state frames are not replayed but the last is sent',
    cites: ['DL62', 'DL5', 'DL7'],
    async run(target) {
      const { peer, token } = await enter(target, 'w4');
      const words = target.model.script([{ text: 'answered' }]);
      say(peer, 'w4', words);
      await peer.frames.until('the answer', (frame) => isAction('message')(frame) && frame.source === 'agent');
      assert.deepEqual(
        peer.frames.all.filter((frame) => isAction('message')(frame) && frame.source === 'user'),
        [],
      );
      const back = await target.connect.webSocket(addressOf('w4', token));
      const replayed = await back.frames.until('the replayed message', (frame) => isAction('message')(frame) && frame.source === 'user');
      assert.equal(argsOf(replayed).content, words);
    },
  },
  {
    id: 'ws-legacy/w4-terminal',
    title: 'the terminal’s `run` is carried out and its observation has source `user`',
    cites: ['DL62', 'F5'],
    async run(target) {
      const { peer } = await enter(target, 'w4');
      peer.send({ action: 'run', args: { command: 'echo typed' } });
      const observation = await peer.frames.until('the observation', isObservation('run'));
      assert.equal(observation.source, 'user');
      assert.equal(String(observation.content).trim(), 'typed');
    },
  },
  {
    id: 'ws-legacy/w4-confirmation',
    title: 'with `CONFIRMATION_MODE` an action waits, is refused by `user_rejected` and done by `user_confirmed`, under a new id',
    cites: ['DL68', 'Q11', 'Q12', 'Q13', 'Q17', 'Q18', 'Q19'],
    async run(target) {
      const peer = await target.connect.webSocket(addressOf('w4', undefined));
      peer.send({
        action: 'initialize',
        args: { ...target.model.initializeArgs, AGENT: 'CodeActAgent', CONFIRMATION_MODE: true, SECURITY_ANALYZER: '' },
      });
      const state = (name: string) => (frame: Frame) => extrasOf(frame).agent_state === name;
      const asked = (is: string) => (frame: Frame) => isAction('run')(frame) && argsOf(frame).is_confirmed === is;
      await peer.frames.until('readiness', state('init'));
      say(peer, 'w4', target.model.script([ECHO]));
      await peer.frames.until('the question', asked('awaiting_confirmation'));
      await peer.frames.until('the state', state('awaiting_user_confirmation'));
      peer.send({ action: 'change_agent_state', args: { agent_state: 'user_rejected' } });
      await peer.frames.until('the refusal', isObservation('user_rejected'));
      await peer.frames.until('rest', state('awaiting_user_input'));
      const from = peer.frames.all.length;
      say(peer, 'w4', target.model.script([ECHO]));
      const question = await peer.frames.until('the question', asked('awaiting_confirmation'), { from });
      await peer.frames.until('the state', state('awaiting_user_confirmation'), { from });
      peer.send({ action: 'change_agent_state', args: { agent_state: 'user_confirmed' } });
      const again = await peer.frames.until('the action', asked('confirmed'), { from });
      assert.notEqual(again.id, question.id);
      assert.equal((await peer.frames.until('the observation', ran, { from })).cause, again.id);
    },
  },
  {
    id: 'ws-legacy/w4-rest',
    title: 'REST of opendevin-2024-07 takes the token as bearer, a bad one is 401 in the words of its time; files are listed both ways',
    cites: ['DL86', 'DL87'],
    async run(target) {
      const { peer, token } = await enter(target, 'w4');
      say(peer, 'w4', target.model.script([{ call: 'execute_bash', args: { command: 'echo x > conformance.txt' } }, FINISH]));
      await peer.frames.until('finish', isAction('finish'));
      const headers = { authorization: `Bearer ${token}` };
      assert.deepEqual((await target.ask('GET', '/api/list-files?path=/', { headers })).body, ['/conformance.txt']);
      assert.deepEqual((await target.ask('GET', '/api/list-files', { headers })).body, ['conformance.txt']);
      assert.deepEqual((await target.ask('GET', '/api/select-file?file=conformance.txt', { headers })).body, { code: 'x\n' });
      const bad = await target.ask('GET', '/api/list-files', { headers: { authorization: 'Bearer no.to.ken' } });
      hasStatus(bad, 401);
      assert.equal(bad.body.error, 'Invalid token');
    },
  },
];
