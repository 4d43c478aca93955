import { isState, type Frame } from '../../../target/frames.ts';
import type { ModelStep } from '../../../model/model-step.ts';
import type { Target } from '../../../target/target.ts';
import type { ModelRequest } from './model-request.ts';
import { joinNew, message, type Ready } from '../join.ts';

/** One thing that was said, and what came of it. */
export interface Talk {
  readonly ready: Ready;
  /** What was said, by which the scripted model knows its part. */
  readonly words: string;
  /** Where its frames begin. */
  readonly from: number;
}

/** Says what makes the model take these steps, in a new conversation or a given one. */
export async function begin(
  target: Target,
  steps: readonly ModelStep[],
  { ready, aside }: { ready?: Ready; aside?: ModelStep } = {},
): Promise<Talk> {
  const joined = ready ?? (await joinNew(target));
  const from = joined.peer.frames.all.length;
  const words = target.script(steps, aside);
  joined.peer.send(message(words));
  return { ready: joined, words, from };
}

/** Waits until the agent rests, in one of these states; what came meanwhile. */
export async function rested(target: Target, { ready: { peer }, from }: Talk, ...states: readonly string[]): Promise<readonly Frame[]> {
  const wanted = states.length > 0 ? states : ['awaiting_user_input', 'finished'];
  const began = await peer.frames.until('running', isState('running'), { from });
  const after = { from: peer.frames.all.indexOf(began), withinMs: 3 * target.patienceMs };
  await peer.frames.until(wanted.join(' or '), isState(...wanted), after);
  return peer.frames.all.slice(from);
}

/** Says it and waits for the rest. */
export async function spoken(
  target: Target,
  steps: readonly ModelStep[],
  more: Parameters<typeof begin>[2] = {},
): Promise<Talk & { frames: readonly Frame[] }> {
  const talk = await begin(target, steps, more);
  return { ...talk, frames: await rested(target, talk) };
}

/** What the model was asked, the `n`th time (from 0) because of these words. */
export async function request(target: Target, { words }: Talk, n: number): Promise<ModelRequest> {
  return (await target.eventually(`request ${n + 1} to the model`, () => target.modelRequests(words)[n])) as unknown as ModelRequest;
}

export const change = (agent_state: string): Frame => ({ action: 'change_agent_state', args: { agent_state } });
export const bash = (command: string, more: object = {}): { call: string; args: Readonly<Record<string, unknown>> } => ({
  call: 'execute_bash',
  // Without a time a command that prints nothing for ten seconds is handed back, and machines are busy.
  args: { command, timeout: 60, ...more },
});
export const FINISH = { call: 'finish', args: { message: 'ready', task_completed: 'true' } } as const;
