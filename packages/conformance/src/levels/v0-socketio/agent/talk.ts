import { isState, type Frame } from '../../../target/frames.ts';
import type { ModelStep } from '../../../model/model-step.ts';
import type { Target } from '../../../target/target.ts';
import { joinNew, message, type JoinedConversation } from '../join.ts';
import assert from 'node:assert/strict';

/** One message to the agent, and what came of it. */
export interface Talk {
  readonly ready: JoinedConversation;
  /** Its text, by which the scripted model knows its part. */
  readonly words: string;
  /** Where its frames begin. */
  readonly from: number;
}

/** The conversation of the checks that share it: what each of them looks at came of its own words. */
export async function inShared(target: Target): Promise<{ readonly ready: JoinedConversation }> {
  return { ready: await target.shared(joinNew) };
}

/** Says what makes the model take these steps, in a new conversation or a given one. */
export async function begin(
  target: Target,
  steps: readonly ModelStep[],
  { ready, aside }: { ready?: JoinedConversation; aside?: ModelStep } = {},
): Promise<Talk> {
  const joined = ready ?? (await joinNew(target));
  const from = joined.peer.frames.all.length;
  const words = target.model.script(steps, aside);
  joined.peer.send(message(words));
  return { ready: joined, words, from };
}

/** Waits until the agent rests, in one of these states; what came meanwhile. */
export async function rested(target: Target, { ready: { peer }, from }: Talk, ...states: readonly string[]): Promise<readonly Frame[]> {
  const wanted = states.length > 0 ? states : ['awaiting_user_input', 'finished'];
  const began = await peer.frames.until('running', isState('running'), { from });
  const after = { from: peer.frames.all.indexOf(began), withinMs: 3 * target.server.timeoutMs };
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
  return (await target.eventually(`request ${n + 1} to the model`, () => target.model.requests(words)[n])) as unknown as ModelRequest;
}

export const change = (agent_state: string): Frame => ({ action: 'change_agent_state', args: { agent_state } });
export const bash = (command: string, more: object = {}): { call: string; args: Readonly<Record<string, unknown>> } => ({
  call: 'execute_bash',
  // Without a time a command that prints nothing for ten seconds is handed back, and machines are busy.
  args: { command, timeout: 60, ...more },
});
export const FINISH = { call: 'finish', args: { message: 'ready', task_completed: 'true' } } as const;

/** A refusal, in whichever form it comes. */
export function isRefusal({ error, observation, status_update: isStatus, type }: Frame): boolean {
  return error !== undefined || observation === 'error' || (isStatus === true && type === 'error');
}

/** Every event that REST gives, in order. */
export async function logOf(target: Target, { id }: JoinedConversation): Promise<readonly Frame[]> {
  const events: Frame[] = [];
  for (;;) {
    const { body } = await target.ask('GET', `/api/conversations/${id}/events?start_id=${Number(events.at(-1)?.id ?? -1) + 1}&limit=100`);
    events.push(...(body.events as unknown as readonly Frame[]));
    if ((body.has_more as unknown) !== true) return events;
  }
}

/** The result of a command that printed just this. */
export const ran =
  (words: string) =>
  (frame: Frame): boolean =>
    frame.observation === 'run' && String(frame.content).trim() === words;

export interface ModelMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly tool_call_id?: string;
}

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly { readonly type: string; readonly function: { readonly name: string; readonly parameters?: unknown } }[];
}

/** The messages of a request as one text, to look for words in. */
export function textOfRequest({ messages }: ModelRequest): string {
  return messages.map((one) => `${textOf(one)}\n${JSON.stringify(one.tool_calls ?? '')}`).join('\n');
}

/** The words of a message, in whichever of the two forms it has them. */
export function textOf({ content }: ModelMessage): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? JSON.stringify(part)).join('\n') : '';
}

export function has(asked: ModelRequest, words: string | RegExp): void {
  const all = textOfRequest(asked);
  const found = typeof words === 'string' ? all.includes(words) : words.test(all);
  assert.ok(found, `the model was not shown ${String(words).slice(0, 80)}; last: ${textOf(asked.messages.at(-1)!).slice(0, 80)}`);
}
