import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import type { ModelStep } from '../../model/model-step.ts';
import { argsOf, extrasOf, isAction, isObservation, isState, type Frame } from '../../target/frames.ts';
import type { Peer, SocketIoOptions, Target } from '../../target/target.ts';
import { joinInBand, joinNew, message } from '../v0-socketio/join.ts';
import { PNG } from '../v0-socketio/tools/cells.ts';
import { enter, say } from '../ws-legacy/session.ts';
import { ORIGIN } from './page.ts';
import { hasStatus } from '../shapes.ts';

const LAST_WORDS = 'The last words.';
const FINISH = { call: 'finish', args: { message: LAST_WORDS } };
const LINES = { call: 'execute_bash', args: { command: 'printf "one\\ntwo\\n"' } };

/** The queries of pages of three releases, and of a program. */
const EARLY: SocketIoOptions = { origin: ORIGIN, says: 'oh_action' };
const LATE: SocketIoOptions = { origin: ORIGIN, query: { providers_set: '', session_api_key: 'null' } };
const PROGRAM: SocketIoOptions = {};

/** Watches a conversation as such a client does, until its task is done. */
async function watched(target: Target, id: string, ask: SocketIoOptions): Promise<Peer> {
  const peer = target.connect.socketIo({ ...ask, query: { conversation_id: id, latest_event_id: '-1', ...ask.query } });
  await peer.frames.until('the end', isState('finished'));
  return peer;
}

async function done(target: Target, steps: readonly ModelStep[]): Promise<string> {
  const { id, peer } = await joinNew(target);
  peer.send(message(target.model.script(steps)));
  await peer.frames.until('the end', isState('finished'));
  return id;
}

function found({ frames }: Peer, fits: (frame: Frame) => boolean): Frame {
  const frame = frames.all.find(fits);
  assert.ok(frame, `nothing like it among ${frames.all.length} frames`);
  return frame;
}

const ranLines = (frame: Frame): boolean => isObservation('run')(frame) && /one/.test(String(frame.content));

/** Found by running the frontends and reading their frames: each check is about one that showed nothing, or the wrong thing. */
export const shown: readonly Check[] = [
  {
    id: 'v0-socketio/last-words-once',
    title: 'a page of 0.18 … 0.32 finds the last words in the thought of `finish`; later pages and programs find them in `final_thought`',
    cites: ['DL186', 'DL189'],
    async run(target) {
      const id = await done(target, [FINISH]);
      const words = async (ask: SocketIoOptions): Promise<Frame> => argsOf(found(await watched(target, id, ask), isAction('finish')));
      const early = await words(EARLY);
      assert.deepEqual([early.thought, early.final_thought], [LAST_WORDS, '']);
      for (const ask of [LATE, PROGRAM]) assert.equal((await words(ask)).final_thought, LAST_WORDS);
    },
  },
  {
    id: 'v0-socketio/in-band-last-words',
    title: 'a frontend of 0.16 or 0.17 finds the last words in the thought, one of 0.15 in the message',
    cites: ['DL186'],
    async run(target) {
      const { peer } = await joinInBand(target);
      await peer.frames.until('init', isState('init'));
      peer.send(message(target.model.script([FINISH])));
      const finish = await peer.frames.until('finish', isAction('finish'));
      assert.equal(argsOf(finish).thought, LAST_WORDS);
      assert.equal(finish.message, LAST_WORDS);
    },
  },
  {
    id: 'v0-socketio/completed',
    title: 'a page of 0.40 … 0.51 is sent its own word for a finished task',
    cites: ['DL191'],
    async run(target) {
      const finish = found(await watched(target, await done(target, [FINISH]), LATE), isAction('finish'));
      assert.equal(argsOf(finish).task_completed, 'success');
    },
  },
  {
    id: 'v0-socketio/page-terminal',
    title: 'lines of output end in CRLF for a page of 0.18 … 0.32, and for 0.15 … 0.17 the agent’s command comes first',
    cites: ['DL188'],
    async run(target) {
      const run = found(await watched(target, await done(target, [LINES, FINISH]), EARLY), ranLines);
      assert.match(String(run.content), /^one\r\ntwo/);
      const { peer } = await joinInBand(target);
      await peer.frames.until('init', isState('init'));
      peer.send(message(target.model.script([LINES])));
      const { content } = await peer.frames.until('the output', ranLines);
      assert.match(String(content), /^printf .*\r\none\r\ntwo/);
    },
  },
  {
    id: 'ws-legacy/terminal-lines',
    title:
      'lines of output end in CRLF for opendevin-2024-07 and opendevin-2024-11, and for opendevin-2024-11 the agent’s command comes first',
    cites: ['DL188'],
    async run(target) {
      for (const [generation, expected] of [
        ['w4', /^one\r\ntwo/],
        ['w5', /^printf .*\r\none\r\ntwo/],
      ] as const) {
        const { peer } = await enter(target, generation);
        say(peer, generation, target.model.script([LINES]));
        assert.match(String((await peer.frames.until('the output', ranLines)).content), expected);
      }
    },
  },
  {
    id: 'v0-socketio/page-noise',
    title: 'a page of 0.18 … 0.32 is not sent what it would show as words of the agent: that a thought was noted, that nothing was found',
    cites: ['DL190'],
    async run(target) {
      const id = await done(target, [{ call: 'think', args: { thought: 'Let me see.' } }, FINISH]);
      const { frames } = await watched(target, id, EARLY);
      const noise = frames.all.filter(
        (frame) => isObservation('think')(frame) || (isObservation('recall')(frame) && extrasOf(frame).recall_type === 'workspace_context'),
      );
      assert.deepEqual(noise, []);
    },
  },
  {
    id: 'v0-socketio/page-pictures',
    title: 'a picture of a cell is in its content for a page of 0.18 … 0.32, and beside it for 0.62',
    cites: ['DL187'],
    async run(target) {
      const plot = `from IPython.display import Image, display\nimport base64\ndisplay(Image(base64.b64decode("${PNG}")))`;
      const id = await done(target, [{ call: 'execute_ipython_cell', args: { code: plot } }, FINISH]);
      const early = found(await watched(target, id, EARLY), isObservation('run_ipython'));
      assert.match(String(early.content), /^!\[image\]\(data:image\/png;base64,[^)\s]+\)$/m);
      const late = found(await watched(target, id, LATE), isObservation('run_ipython'));
      assert.match(String((extrasOf(late).image_urls as readonly unknown[])[0]), /^data:image\/png/);
    },
  },
  {
    id: 'v0-socketio/in-band-state',
    title: 'a frontend of 0.15 … 0.17 that comes back with every event is still sent the state',
    cites: ['DL192'],
    async run(target) {
      const { peer, token } = await joinInBand(target);
      await peer.frames.until('init', isState('init'));
      peer.send(message(target.model.script([FINISH])));
      const last = await peer.frames.until('the end', isState('finished'));
      peer.close();
      const back = await joinInBand(target, { token, latest_event_id: last.id });
      const init = await back.peer.frames.until('init', isState('init'));
      await back.peer.frames.until('the state', isState('finished'), { from: back.peer.frames.all.indexOf(init) });
    },
  },
  {
    id: 'ws-legacy/no-progress',
    title: 'opendevin-2024-07 is sent no status that it would show for ever',
    cites: ['DL67'],
    async run(target) {
      const { peer } = await enter(target, 'w4');
      say(peer, 'w4', target.model.script([LINES, FINISH]));
      await peer.frames.until('the end', isState('finished'));
      const statuses = peer.frames.all.filter(({ status, token }) => status !== undefined && token === undefined);
      assert.deepEqual(statuses, []);
    },
  },
  {
    id: 'ws-legacy/relative-paths',
    title: 'a path sent to 0.3 … 0.5 begins at the workspace, live and when they resume',
    cites: ['DL193'],
    async run(target) {
      const { peer, token } = await enter(target, 'w1');
      const file = (path: string) => ({ call: 'str_replace_editor', args: { command: 'create', path, file_text: 'made\n' } });
      say(peer, 'w1', target.model.script([file('/workspace/made/a.txt'), file('/tmp/outside-of-w1.txt'), FINISH]));
      await peer.frames.until('the end', isAction('finish'));
      const headers = { authorization: `Bearer ${token}` };
      const { messages } = (await target.ask('GET', '/api/messages', { headers })).body as { messages?: readonly { payload: Frame }[] };
      for (const frames of [peer.frames.all, (messages ?? []).map(({ payload }) => payload)]) {
        const paths = frames.filter(isAction('write')).map((frame) => argsOf(frame).path);
        assert.deepEqual(paths, ['made/a.txt']);
      }
    },
  },
  {
    id: 'ws-legacy/one-failure',
    title: 'a failure of the model is one bubble for opendevin-2024-04 and opendevin-2024-07',
    cites: ['DL64'],
    async run(target) {
      for (const generation of ['w1', 'w4'] as const) {
        const { peer } = await enter(target, generation);
        say(peer, generation, target.model.script([{ status: 401 }]));
        await peer.frames.until('the failure', ({ error }) => error === true);
        if (generation === 'w4') await peer.frames.until('the state', isState('error'));
        // This request is answered after every frame that the failure caused.
        peer.send({ action: 'no_such_action', args: {} });
        await peer.frames.until('the refusal', ({ message: words }) => /no_such_action/.test(String(words)));
        const bubbles = peer.frames.all.filter(({ error }) => error === true).map(({ message: words }) => String(words));
        assert.equal(bubbles.length, 2, bubbles.join(' | '));
      }
    },
  },
  {
    id: 'v0-socketio/confirmation-order',
    title:
      'an action that waits comes after the state that asks for it, as the last that is seen: frontends draw their buttons there, once',
    cites: ['DL121'],
    isAlone: true,
    async run(target) {
      const store = async (body: object) => hasStatus(await target.ask('POST', '/api/settings', { body }), 200);
      target.defer(() => store({ confirmation_mode: false }));
      await store({ confirmation_mode: true, security_analyzer: '' });
      const { peer } = await joinNew(target);
      const { frames, send } = peer;
      send(message(target.model.script([{ call: 'execute_bash', args: { command: 'echo asked' } }])));
      const asks = (is: string) => (frame: Frame) => isAction('run')(frame) && argsOf(frame).confirmation_state === is;
      const state = await frames.until('the question', isState('awaiting_user_confirmation'));
      const action = await frames.until('the action', asks('awaiting_confirmation'));
      assert.ok(frames.all.indexOf(state) < frames.all.indexOf(action), 'the action came before the state that asks for it');
      assert.equal(action.source, 'agent');
      assert.equal(frames.all.findLast(isSeen), action, 'something else is the last that is seen');
      send({ action: 'change_agent_state', args: { agent_state: 'user_rejected' } });
      await frames.until('the refusal', ({ observation }) => observation === 'user_rejected');
      await frames.until('rest', isState('awaiting_user_input'), { from: frames.all.indexOf(action) });
      assert.ok(!frames.all.some(({ observation }) => observation === 'run'), 'what was refused ran');
    },
  },
];

/** What every frontend leaves out of its chat. */
const UNSEEN = ['agent_state_changed', 'change_agent_state', 'system', 'recall', 'null'];

function isSeen(frame: Frame): boolean {
  const kind = frame.action ?? frame.observation;
  return typeof kind === 'string' && !UNSEEN.includes(kind);
}
