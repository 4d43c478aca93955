import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, extrasOf, isAction, isObservation, type Frame } from '../../target/frames.ts';
import type { ModelStep } from '../../model/model-step.ts';
import type { Peer, Target } from '../../target/target.ts';
import { join } from '../v0-socketio/join.ts';

const FINISH: ModelStep = { call: 'finish', args: { message: 'ready', task_completed: 'true' } };

async function start(target: Target, steps: readonly ModelStep[]): Promise<{ peer: Peer; words: string }> {
  const peer = await target.connect.webSocket();
  const words = target.model.script([...steps, FINISH]);
  peer.send({ action: 'start', args: { task: words } });
  return { peer, words };
}

const edit = (args: object): ModelStep => ({ call: 'str_replace_editor', args: { path: '/tmp/conformance-readme.txt', ...args } });

/** How a client of the READMEs sees what has no name in them. */
export const readmeFrames: readonly Check[] = [
  {
    id: 'ws-readme/greeting',
    title: 'a connection is greeted with `initialize` and "Control loop started.", and `initialize` is answered with the same',
    cites: ['DL13'],
    async run(target) {
      const peer = await target.connect.webSocket();
      const isGreeting = (frame: Frame): boolean => isAction('initialize')(frame) && frame.message === 'Control loop started.';
      const first = await peer.frames.until('the greeting', isGreeting);
      peer.send({ action: 'initialize', args: { model: 'openai/gpt-4o' } });
      await peer.frames.until('the answer', isGreeting, { from: peer.frames.all.indexOf(first) + 1 });
    },
  },
  {
    id: 'ws-readme/chat',
    title: 'the client’s own message is answered with "Starting new task…", and is a `chat` in a replay',
    cites: ['C9', 'DL17'],
    async run(target) {
      const { peer, words } = await start(target, []);
      await peer.frames.until('the answer', ({ message }) => message === 'Starting new task...');
      await peer.frames.until('finish', isAction('finish'));
      const { token } = await peer.frames.until('the token', (frame) => typeof frame.token === 'string');
      const back = await target.connect.webSocket({ path: `/ws?token=${encodeURIComponent(String(token))}` });
      const chat = await back.frames.until('the chat', isObservation('chat'));
      assert.equal(chat.content, words);
    },
  },
  {
    id: 'ws-readme/words',
    title: 'a model that answers in words ends with a `think` and one `finish`, and a follow-up goes on',
    cites: ['DL182', 'DL18'],
    async run(target) {
      const peer = await target.connect.webSocket();
      peer.send({ action: 'start', args: { task: target.model.script([{ text: 'nothing but words' }]) } });
      await peer.frames.until('finish', isAction('finish'));
      const from = peer.frames.all.length;
      assert.equal(argsOf(peer.frames.all[from - 2] ?? {}).thought, 'nothing but words');
      peer.send({ action: 'start', args: { task: target.model.script([FINISH]) } });
      await peer.frames.until('finish', isAction('finish'), { from });
      assert.equal(peer.frames.all.filter(isAction('finish')).length, 2);
    },
  },
  {
    id: 'ws-readme/think-first',
    title: 'words of the agent beside an action are a `think` before it',
    cites: ['DL15', 'B12'],
    async run(target) {
      const { peer } = await start(target, [{ call: 'execute_bash', args: { command: 'true' }, text: 'words beside it' }]);
      await peer.frames.until('finish', isAction('finish'));
      const at = (fits: (frame: Frame) => boolean): number => peer.frames.all.findIndex(fits);
      const words = at((frame) => isAction('think')(frame) && String(argsOf(frame).thought).includes('words beside it'));
      assert.ok(words >= 0 && words < at(isAction('run')), `the words are at ${words}, the action at ${at(isAction('run'))}`);
    },
  },
  {
    id: 'ws-readme/edit',
    title: 'an edit is sent before it happens and becomes a `write` with the new content after; looking at a file is a `read`',
    cites: ['DL16'],
    async run(target) {
      const made = edit({ command: 'create', file_text: 'one\ntwo\n' });
      const { peer } = await start(target, [
        made,
        edit({ command: 'str_replace', old_str: 'two', new_str: 'three' }),
        edit({ command: 'view' }),
      ]);
      const isWritten = (frame: Frame): boolean => isAction('write')(frame) && argsOf(frame).content === 'one\nthree\n';
      await peer.frames.until('the write', isWritten);
      await peer.frames.until('the read', isAction('read'));
      await peer.frames.until('finish', isAction('finish'));
      assert.ok(!peer.frames.all.some(({ action, observation }) => action === 'edit' || observation === 'edit'), 'a frame is called edit');
    },
  },
  {
    id: 'ws-readme/later-kinds',
    title: 'a later kind is sent as the nearest kind of the time or in the chat; states are no frames',
    cites: ['DL18', 'DL19'],
    async run(target) {
      const part = target.model.script([{ call: 'finish', args: { message: 'the part is done', task_completed: 'true' } }]);
      const { peer } = await start(target, [
        { call: 'execute_ipython_cell', args: { code: 'print(6 * 7)', timeout: 60 } },
        { call: 'delegate', args: { task: part } },
      ]);
      await peer.frames.until('finish', isAction('finish'));
      for (const words of [/\b42\b/, /the part is done/])
        assert.ok(
          peer.frames.all.some(({ message, content }) => words.test(`${String(message)} ${String(content)}`)),
          `${String(words)} is not sent`,
        );
      const late = ['run_ipython', 'delegate', 'agent_state_changed', 'change_agent_state'];
      assert.deepEqual(
        peer.frames.all.filter(({ observation }) => late.includes(String(observation))),
        [],
      );
    },
  },
  {
    id: 'ws-readme/failure',
    title: 'a failure of the model is a message in the chat',
    cites: ['DL18', 'DL12'],
    async run(target) {
      const peer = await target.connect.webSocket();
      peer.send({ action: 'start', args: { task: target.model.script([{ status: 401 }]) } });
      const failure = await peer.frames.until('the failure', ({ error }) => error !== undefined);
      assert.ok(String(failure.message).length > 0, JSON.stringify(failure).slice(0, 150));
    },
  },
  {
    id: 'ws-readme/browse',
    title: '`browse` has `args.url`; its observation the page’s HTML as `content` and `extras.url`',
    cites: ['B10', 'C6'],
    async run(target) {
      const { peer } = await start(target, []);
      await peer.frames.until('finish', isAction('finish'));
      const url = 'data:text/html,<h1>conformance</h1>';
      peer.send({ action: 'browse', args: { url } });
      const page = await peer.frames.until('the page', isObservation('browse'));
      assert.match(String(page.content), /<h1>conformance<\/h1>/);
      assert.equal(extrasOf(page).url, url);
    },
  },
  {
    id: 'ws-readme/agent',
    title: 'an unknown agent is replaced by the usual one, which a message after `initialize` says, and the task is done',
    cites: ['EN62', 'SV224'],
    async run(target) {
      const peer = await target.connect.webSocket();
      peer.send({ action: 'initialize', args: { model: 'openai/gpt-4o', agent_cls: 'NoSuchAgent' } });
      await peer.frames.until('word of it', (frame) => JSON.stringify(frame).includes('NoSuchAgent'));
      peer.send({ action: 'start', args: { task: target.model.script([FINISH]) } });
      await peer.frames.until('finish', isAction('finish'));
    },
  },
  {
    id: 'ws-readme/model',
    title: 'the model is the one that `initialize` names',
    cites: ['SV21', 'A8'],
    async run(target) {
      const peer = await target.connect.webSocket();
      peer.send({ action: 'initialize', args: { model: 'openai/gpt-4.1-mini' } });
      const words = target.model.script([FINISH]);
      peer.send({ action: 'start', args: { task: words } });
      await peer.frames.until('finish', isAction('finish'));
      assert.equal(target.model.requests(words)[0]?.model as unknown, 'gpt-4.1-mini');
    },
  },
  {
    id: 'ws-readme/over-socket-io',
    title: 'a task begun at `/ws` is watched over Socket.IO, where its `start` is the user’s message',
    cites: ['S2', 'DL6'],
    async run(target) {
      const { peer, words } = await start(target, []);
      await peer.frames.until('finish', isAction('finish'));
      const { body } = await target.ask('GET', '/api/conversations?limit=20');
      const ids = (body.results as unknown as readonly { conversation_id: string }[]).map(({ conversation_id: id }) => id);
      const logs = await Promise.all(
        ids.map(async (id) => ({ id, text: (await target.ask('GET', `/api/conversations/${id}/events?limit=20`)).text })),
      );
      const own = logs.find(({ text }) => text.includes(words));
      assert.ok(own, 'there is no conversation of it');
      const watcher = join(target, own.id);
      const message = await watcher.frames.until('the message', (frame) => isAction('message')(frame) && frame.source === 'user');
      assert.equal(argsOf(message).content, words);
    },
  },
];
