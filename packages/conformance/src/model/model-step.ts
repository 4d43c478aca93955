import { randomBytes } from 'node:crypto';

/** One call of a tool. `args` as a text goes out as it is, JSON or not. */
export interface ModelCall {
  readonly call: string;
  readonly args: Readonly<Record<string, unknown>> | string;
  readonly id?: string;
}

export interface AnswerText {
  readonly text: string;
}

/** What any answer can have beside what it says. */
interface AnswerDetails {
  /** Why the model stopped, where it is not for the usual reason. */
  readonly reason?: string;
  readonly tokens?: number;
  /** What the model thinks before it, as servers of open models send it. */
  readonly reasoning?: string;
}

/** The endpoint answers with this status instead, and with the provider's words and machine word for why. */
export interface Refusal {
  readonly status: number;
  readonly code?: string;
  readonly says?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A stream of these bytes, after which the connection breaks. */
export interface BrokenStream {
  readonly bytes: string;
}

export type ModelAnswer = (
  | (ModelCall & Partial<AnswerText>)
  | ({ readonly calls: readonly ModelCall[] } & Partial<AnswerText>)
  | AnswerText
) &
  AnswerDetails;

/** One answer of the model; it waits for `after`. */
export type ModelStep = (ModelAnswer | Refusal | BrokenStream) & { readonly after?: Promise<unknown> };

export function isModelAnswer(step: ModelStep): step is ModelAnswer {
  return !('status' in step) && !('bytes' in step);
}

/** The answer as one document. */
export function completionOf(step: ModelAnswer): object {
  const thought = step.reasoning === undefined ? {} : { reasoning_content: step.reasoning };
  const message = {
    role: 'assistant',
    content: step.text ?? null,
    ...thought,
    ...(callsOf(step).length > 0 && { tool_calls: callsOf(step) }),
  };
  return { ...HEAD, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reasonOf(step) }], usage: usageOf(step) };
}

/** The same as events of a stream; texts and arguments come in pieces, cut anywhere. */
export function chunksOf(step: ModelAnswer): readonly string[] {
  const words = piecesOf(step.text ?? '').map((content) => ({ content }));
  const calls = callsOf(step).flatMap(({ id, type, function: { name, arguments: text } }, index) => [
    { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] },
    ...piecesOf(text).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  const thoughts = piecesOf(step.reasoning ?? '').map((reasoning_content) => ({ reasoning_content }));
  const deltas = [{ role: 'assistant', content: '' }, ...thoughts, ...words, ...calls];
  const events = deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] }));
  const last = { choices: [{ index: 0, delta: {}, finish_reason: reasonOf(step) }], usage: usageOf(step) };
  return [...events, chunk(last), 'data: [DONE]\n\n'];
}

const HEAD = { id: 'chatcmpl-conformance', created: 1, model: 'gpt-4o' };

function chunk(more: object): string {
  return `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...more })}\n\n`;
}

function piecesOf(text: string): readonly string[] {
  const length = Math.max(1, Math.ceil(text.length / 3));
  return text === '' ? [] : Array.from({ length: Math.ceil(text.length / length) }, (_, n) => text.slice(n * length, (n + 1) * length));
}

function callsOf(step: ModelAnswer) {
  const calls = 'calls' in step ? step.calls : 'call' in step ? [step] : [];
  return calls.map(({ call, args, id = `call_${randomBytes(8).toString('hex')}` }) => ({
    id,
    type: 'function',
    function: { name: call, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
}

function reasonOf(step: ModelAnswer): string {
  return step.reason ?? ('call' in step || 'calls' in step ? 'tool_calls' : 'stop');
}

function usageOf({ tokens = 10 }: ModelAnswer): object {
  return { prompt_tokens: tokens, completion_tokens: 5, total_tokens: tokens + 5 };
}
