import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { extrasOf, isObservation, type Frame } from '../../target/frames.ts';
import type { ModelStep } from '../../model/model-step.ts';
import type { Peer, Target } from '../../target/target.ts';
import { letterProblems } from './letter.ts';

/** A client that knows the document and nothing else: no query, `oh_action` out, `oh_event` in, and nothing sent before it receives `INIT`. */
export async function enter(target: Target): Promise<Peer> {
  const peer = target.connect.socketIo({ says: 'oh_action' });
  await peer.frames.until('INIT', isState('INIT'));
  return peer;
}

export const isState = (state: string) => (frame: Frame) =>
  isObservation('agent_state_changed')(frame) && extrasOf(frame).agent_state === state;

/** Sends a message that makes the model take these steps, and waits until the agent has stopped working. */
export async function playSteps(target: Target, steps: readonly ModelStep[], rest = 'FINISHED'): Promise<Peer> {
  const peer = await enter(target);
  const content = target.model.script(steps);
  peer.send({ action: 'message', args: { content, image_urls: [], wait_for_response: false, security_risk: null } });
  await peer.frames.until(rest, isState(rest), { from: 1 });
  return peer;
}

export const FINISH: ModelStep = { call: 'finish', args: { message: 'ready', task_completed: 'true' } };
export const RUN: ModelStep = { call: 'execute_bash', args: { command: 'echo documented' }, text: 'a thought' };

/** A decoder with the document's types accepts every frame that the check's clients received. */
export function strictly(check: Check): Check {
  return {
    ...check,
    async run(target) {
      const peers: Peer[] = [];
      const watched: Target = {
        ...target,
        connect: {
          ...target.connect,
          socketIo(ask) {
            const peer = target.connect.socketIo(ask);
            if (ask?.says === 'oh_action') peers.push(peer);
            return peer;
          },
        },
      };
      await check.run(watched);
      assert.deepEqual([...new Set(peers.flatMap(({ frames }) => frames.all.flatMap(letterProblems)))], []);
    },
  };
}
