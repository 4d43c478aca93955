import assert from 'node:assert/strict';
import type { Check } from '../check.ts';
import type { Frame } from '../frames.ts';
import { isKind, type Peer, type Target } from '../target.ts';

/** The two READMEs of 2024, by their letter: a plain WebSocket, one JSON object a frame, no handshake. */
export const wsReadme: readonly Check[] = [
  {
    id: 'ws-readme/start',
    title: 'a first frame `start` runs a task to `finish`, without `initialize`',
    cites: ['A1', 'A4', 'A5', 'A6', 'B5', 'B13', 'DL24'],
    async run(target) {
      const { peer, frames } = await task(target, [{ call: 'finish', args: { message: 'ready', task_completed: 'true' } }]);
      await frames.until('finish', isKind('finish'));
      peer.close();
    },
  },
  {
    id: 'ws-readme/run',
    title: '`run` has `args.command`; its observation `content`, `extras.command`, `extras.exit_code` and a `message`',
    cites: ['A10', 'B1', 'B2', 'B3', 'B8', 'C1', 'C2', 'C3', 'C4', 'C7', 'DL10', 'DL14'],
    async run(target) {
      const { frames } = await task(target, [
        { call: 'execute_bash', args: { command: 'echo conformance; exit_with() { return 3; }; exit_with' } },
      ]);
      const action = await frames.until('action run', isAction('run'));
      assert.match(String(argsOf(action).command), /echo conformance/);
      assert.equal(typeof action.message, 'string');
      const observation = await frames.until('observation run', isObservation('run'));
      assert.match(String(observation.content), /conformance/);
      assert.equal(typeof observation.message, 'string');
      assert.match(String(extrasOf(observation).command), /echo conformance/);
      assert.equal(extrasOf(observation).exit_code, 3);
    },
  },
];

/** Sends `start` with a task that makes the model take these steps. */
async function task(target: Target, steps: Parameters<Target['script']>[0]): Promise<{ peer: Peer; frames: Peer['frames'] }> {
  const peer = await target.webSocket();
  peer.send({ action: 'start', args: { task: target.script(steps) } });
  return { peer, frames: peer.frames };
}

function isAction(kind: string): (frame: Frame) => boolean {
  return (frame) => frame.action === kind;
}

function isObservation(kind: string): (frame: Frame) => boolean {
  return (frame) => frame.observation === kind;
}

function argsOf(frame: Frame): Frame {
  return frame.args as Frame;
}

function extrasOf(frame: Frame): Frame {
  return frame.extras as Frame;
}
