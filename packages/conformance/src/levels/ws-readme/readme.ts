import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, extrasOf, isAction, isObservation, type Frame } from '../../target/frames.ts';
import type { ModelStep } from '../../model/model-step.ts';
import type { Peer, Target } from '../../target/target.ts';
import { ANSWER, isWholeInTurn } from '../whole-history.ts';

const FINISH: ModelStep = { call: 'finish', args: { message: 'ready', task_completed: 'true' } };

/** Sends `start` with a task that makes the model take these steps and finish. */
async function start(target: Target, steps: readonly ModelStep[]): Promise<Peer> {
  const peer = await target.connect.webSocket();
  peer.send({ action: 'start', args: { task: target.model.script([...steps, FINISH]) } });
  return peer;
}

/** As the README shows them: kind, content or arguments, and words for the chat. */
function isEnvelope(frame: Frame): void {
  assert.equal(typeof frame.message, 'string', JSON.stringify(frame).slice(0, 200));
  if (frame.action === undefined) assert.equal(typeof frame.content, 'string');
}

/** The two READMEs of 2024 by their letter: a plain WebSocket, one JSON object a frame, no handshake, no token. */
export const readme: readonly Check[] = [
  {
    id: 'ws-readme/start',
    title: 'a first frame `start` runs a task to `finish`, without `initialize`',
    cites: ['A1', 'A4', 'A5', 'A6', 'B5', 'B13', 'DL24', 'S6'],
    async run(target) {
      const { frames } = await start(target, []);
      isEnvelope(await frames.until('finish', isAction('finish')));
    },
  },
  {
    id: 'ws-readme/every-frame',
    title: 'sixty frames of a task are each sent once and in order',
    cites: ['A4', 'A5', 'S6'],
    async run(target) {
      const { frames } = await start(target, [ANSWER]);
      await frames.until('finish', isAction('finish'));
      isWholeInTurn(frames.all, 'a client of the README');
    },
  },
  {
    id: 'ws-readme/initialize',
    title: '`initialize` with `model`, `directory` and `agent_cls` is answered, and `start` follows',
    cites: ['A8', 'B4', 'DL25', 'SV15'],
    async run(target) {
      const peer = await target.connect.webSocket();
      peer.send({ action: 'initialize', args: { model: 'openai/gpt-4o', agent_cls: 'CodeActAgent' } });
      isEnvelope(await peer.frames.until('the answer', isAction('initialize')));
      peer.send({ action: 'start', args: { task: target.model.script([FINISH]) } });
      await peer.frames.until('finish', isAction('finish'));
    },
  },
  {
    id: 'ws-readme/directory',
    title: 'a `directory` outside what the operator allows is refused with words',
    cites: ['B4', 'SV7'],
    async run(target) {
      const peer = await target.connect.webSocket();
      peer.send({ action: 'initialize', args: { directory: '/etc' } });
      const refusal = await peer.frames.until('the refusal', ({ error }) => error !== undefined);
      assert.ok(String(refusal.message).length > 0);
    },
  },
  {
    id: 'ws-readme/run',
    title: '`run` has `args.command`; its observation `content`, `extras.command`, `extras.exit_code` and a `message`',
    cites: ['A10', 'B1', 'B2', 'B3', 'B8', 'C1', 'C2', 'C3', 'C4', 'C7', 'DL10', 'DL14', 'S3'],
    async run(target) {
      const { frames } = await start(target, [{ call: 'execute_bash', args: { command: 'echo conformance; (exit 3)' } }]);
      const action = await frames.until('action run', isAction('run'));
      isEnvelope(action);
      assert.equal(argsOf(action).command, 'echo conformance; (exit 3)');
      const observation = await frames.until('observation run', isObservation('run'));
      isEnvelope(observation);
      assert.equal(String(observation.content).trim(), 'conformance');
      assert.partialDeepStrictEqual(extrasOf(observation), { command: 'echo conformance; (exit 3)', exit_code: 3 });
    },
  },
  {
    id: 'ws-readme/user-actions',
    title: 'a client’s own `write`, `read` and `run` are carried out and answered by their observations',
    cites: ['B6', 'B7', 'C5', 'DL10'],
    async run(target) {
      const { frames, send } = await start(target, []);
      await frames.until('finish', isAction('finish'));
      send({ action: 'write', args: { path: 'conformance.txt', content: 'written\n' } });
      await frames.until('observation write', isObservation('write'));
      send({ action: 'read', args: { path: 'conformance.txt' } });
      const read = await frames.until('observation read', isObservation('read'));
      assert.match(String(read.content), /written/);
      assert.match(String(extrasOf(read).path), /conformance\.txt$/);
      send({ action: 'run', args: { command: 'cat conformance.txt' } });
      assert.match(String((await frames.until('observation run', isObservation('run'))).content), /written/);
    },
  },
  {
    id: 'ws-readme/background',
    title: '`background` runs beside, and `kill` with the id of the command ends it',
    cites: ['B8', 'B9', 'RT31', 'S4'],
    async run(target) {
      const { frames, send } = await start(target, []);
      await frames.until('finish', isAction('finish'));
      send({ action: 'run', args: { command: 'sleep 300', background: true } });
      const began = await frames.until('the answer', isObservation('run'));
      const id = extrasOf(began).command_id;
      assert.ok(id !== undefined && id !== -1, JSON.stringify(began).slice(0, 300));
      const from = frames.all.length;
      send({ action: 'kill', args: { id } });
      await frames.until('an answer to kill', ({ observation, error }) => observation !== undefined || error !== undefined, { from });
    },
  },
  {
    id: 'ws-readme/recall',
    title: '`recall` searches the messages, and its observation has the `query`',
    cites: ['B11', 'C8', 'EN126'],
    async run(target) {
      const { frames, send } = await start(target, []);
      await frames.until('finish', isAction('finish'));
      send({ action: 'recall', args: { query: 'conformance' } });
      const found = await frames.until(
        'observation recall',
        (frame) => isObservation('recall')(frame) && extrasOf(frame).query === 'conformance',
      );
      isEnvelope(found);
    },
  },
  {
    id: 'ws-readme/think',
    title: 'a thought of the agent is an action `think` with `args.thought`',
    cites: ['B12'],
    async run(target) {
      const { frames } = await start(target, [{ call: 'think', args: { thought: 'a plan' } }]);
      assert.equal(argsOf(await frames.until('think', isAction('think'))).thought, 'a plan');
    },
  },
  {
    id: 'ws-readme/no-ids',
    title: 'its frames have no ids, times or causes: the document knows none',
    cites: ['DL10', 'DL81', 'DL11'],
    async run(target) {
      const { frames } = await start(target, [{ call: 'execute_bash', args: { command: 'true' } }]);
      await frames.until('finish', isAction('finish'));
      assert.deepEqual(
        frames.all.filter((frame) => 'id' in frame || 'timestamp' in frame || 'cause' in frame),
        [],
      );
    },
  },
  {
    id: 'ws-readme/unknown',
    title: 'a frame that is no JSON, no action or unknown is answered with an error in words, and the socket goes on',
    cites: ['A11', 'DL22', 'DL89', 'SV16'],
    async run(target) {
      const peer = await target.connect.webSocket();
      for (const frame of ['no json', '[]', '{}', '{"action":"no_such_action","args":{}}', '{"action":"start","args":{}}']) {
        const from = peer.frames.all.length;
        peer.send(frame);
        await peer.frames.until(`an error for ${frame}`, ({ error, message }) => error !== undefined && typeof message === 'string', {
          from,
        });
      }
      peer.send({ action: 'start', args: { task: target.model.script([FINISH]) } });
      await peer.frames.until('finish', isAction('finish'));
    },
  },
  {
    id: 'ws-readme/only-clients',
    title: '`initialize` and `start` are the client’s alone: a model that calls them starts nothing',
    cites: ['B14', 'DL51'],
    async run(target) {
      const { frames } = await start(target, [{ call: 'start', args: { task: 'another' } }]);
      await frames.until('finish', isAction('finish'));
      assert.equal(frames.all.filter(isAction('start')).length, 0);
    },
  },
];
