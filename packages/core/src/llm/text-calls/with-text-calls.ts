/**
 * Tools for models that take none: calls are written and read as text.
 *
 * Invariants
 * TC1  A model that is known to take tools, or whose setting says so, is asked as it is.
 * TC2  An endpoint that refuses tools is asked again at once in text, and from then on first.
 * TC3  The deltas of a text, put together, are the text of the answer, without the calls; those of a call are its arguments.
 */
import {
  withStream,
  type LlmAnswer,
  type LlmEvent,
  type LlmProvider,
  type LlmRequest,
  type LlmToolSpec,
  type ToolCalling,
} from '../llm-provider.ts';
import type { ModelTraits } from '../model-traits.ts';
import { CallFinder, type CallStart } from './find-call.ts';
import { parseCalls } from './parse-calls.ts';
import { renderRequest } from './render-request.ts';

export function withTextCalls(provider: LlmProvider, mode: ToolCalling, traits: ModelTraits): LlmProvider {
  return withStream(provider, async function* (request, options) {
    if (mode === 'native' || request.tools.length === 0) return yield* provider.stream(request, options);
    if (mode === 'auto' && traits.known.tools !== false) {
      let isRefused = false;
      for await (const event of provider.stream(request, options)) {
        isRefused = event.type === 'failed' && event.failure.refused === 'tools' && !traits.known.tools;
        if (isRefused) break;
        if (event.type === 'done' && event.answer.toolCalls.length > 0) traits.learn({ tools: true });
        yield event;
      }
      if (!isRefused) return;
      traits.learn({ tools: false });
    }
    yield* inText(provider.stream(renderRequest(request), options), request);
  });
}

async function* inText(events: AsyncIterable<LlmEvent>, { tools }: LlmRequest): AsyncIterable<LlmEvent> {
  const reader = new AnswerReader(tools);
  for await (const event of events) {
    if (event.type === 'delta' && event.part === 'text') yield* reader.push(event.text);
    else if (event.type !== 'done') yield event;
    else {
      const { rest, answer } = reader.finish(event.answer);
      yield* rest;
      yield { type: 'done', answer };
    }
  }
}

class AnswerReader {
  readonly #tools: readonly LlmToolSpec[];
  readonly #finder: CallFinder;
  #words = '';
  /** Breaks that stand before a call are not part of the words, and half of a surrogate pair is no character. */
  #held = '';
  #start: CallStart | undefined;
  /** From the first call on: what is a call, and where it ends, is known at the end. */
  #rest = '';

  constructor(tools: readonly LlmToolSpec[]) {
    this.#tools = tools;
    this.#finder = new CallFinder(new Set(tools.map(({ name }) => name)));
  }

  push(text: string): readonly LlmEvent[] {
    if (this.#start) {
      this.#rest += text;
      return [];
    }
    return this.#read(text, false);
  }

  #read(text: string, isWhole: boolean): readonly LlmEvent[] {
    const { words, start, rest } = this.#finder.read(text, isWhole);
    this.#start = start;
    this.#rest = rest;
    const waiting = this.#held + words;
    this.#held = waiting.length > MAX_HELD ? '' : HELD.exec(waiting)![0];
    const shown = this.#show(waiting.slice(0, waiting.length - this.#held.length));
    return start?.name === undefined ? shown : [...shown, { type: 'calling', tool: start.name }];
  }

  #show(text: string): readonly LlmEvent[] {
    this.#words += text;
    return text === '' ? [] : [{ type: 'delta', part: 'text', text }];
  }

  finish(given: LlmAnswer): { readonly rest: readonly LlmEvent[]; readonly answer: LlmAnswer } {
    const rest = this.#start ? [] : [...this.#read('', true)];
    if (!this.#start) return { rest: [...rest, ...this.#show(this.#held)], answer: given };
    const { calls, text } = parseCalls(this.#rest, this.#start, this.#tools);
    if (text !== '') rest.push(...this.#show(this.#words === '' ? text : `\n\n${text}`));
    const toolCalls = calls.map((call, index) => ({ id: `${given.id}-${index}`, ...call }));
    for (const call of toolCalls) rest.push({ type: 'delta', part: 'tool', text: call.arguments });
    const finishReason = given.finishReason === 'stop' ? 'tool_calls' : given.finishReason;
    return { rest, answer: { ...given, text: this.#words, toolCalls, finishReason } };
  }
}

const HELD = /[\s\uD800-\uDBFF]*$/;
const MAX_HELD = 4_000;
