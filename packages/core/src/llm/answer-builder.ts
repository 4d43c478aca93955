import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { failure } from './classify-failure.ts';
import type { LlmAnswer, LlmEvent, LlmFailure, LlmToolCall, LlmUsage } from './llm-provider.ts';

/** An answer before its price and its latency are known. */
export type BareAnswer = Omit<LlmAnswer, 'costUsd' | 'latencyMs'>;

/**
 * Collects one streamed answer and judges whether it is complete.
 *
 * Invariants
 * A1  What is judged complete carries a finish reason that the provider sent.
 * A2  The text of a tool call is as the model wrote it; an empty one, which means "no arguments", is `{}`.
 */
export class AnswerBuilder {
  readonly #model: string;
  readonly #fallbackId: string;
  #id = '';
  #text = '';
  readonly #calls: LlmToolCall[] = [];
  #finish: { readonly reason: LanguageModelV4FinishReason; readonly usage: LanguageModelV4Usage } | undefined;

  /** `fallbackId` names the answer when the provider gives no id. */
  constructor(model: string, fallbackId: string) {
    this.#model = model;
    this.#fallbackId = fallbackId;
  }

  /** Takes a part in; gives the event to pass on, if it is one. */
  add(part: LanguageModelV4StreamPart): LlmEvent | undefined {
    switch (part.type) {
      case 'text-delta':
        this.#text += part.delta;
        return delta('text', part.delta);
      case 'reasoning-delta':
        return delta('reasoning', part.delta);
      case 'tool-input-start':
        return { type: 'calling', tool: part.toolName };
      case 'tool-input-delta':
        return delta('tool', part.delta);
      case 'tool-call':
        this.#calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input.trim() === '' ? '{}' : part.input });
        return undefined;
      case 'response-metadata':
        this.#id ||= part.id ?? '';
        return undefined;
      case 'finish':
        this.#finish = { reason: part.finishReason, usage: part.usage };
        return undefined;
      default:
        return undefined;
    }
  }

  /** The whole answer, or why it is none. */
  finish(): BareAnswer | LlmFailure {
    const reason = this.#finish && readReason(this.#finish.reason);
    if (!this.#finish || reason === undefined) return failure('LLM_UNAVAILABLE', 'the answer was cut off', true);
    const isEmpty = this.#text.trim() === '' && this.#calls.length === 0;
    if (reason === 'content_filter' && (isEmpty || this.#calls.length > 0)) {
      return failure('LLM_CONTENT_POLICY', 'the answer was held back by its content filter', false);
    }
    if (reason === 'length' && isEmpty) {
      return failure('LLM_FAILED', 'the limit of output tokens was reached before any text; ask for smaller steps', false);
    }
    if (isEmpty) return failure('LLM_FAILED', 'the answer was empty', true);
    return {
      id: this.#id || this.#fallbackId,
      model: this.#model,
      text: this.#text,
      toolCalls: this.#calls,
      finishReason: reason === 'stop' && this.#calls.length > 0 ? 'tool_calls' : reason,
      usage: readUsage(this.#finish.usage),
    };
  }
}

function delta(part: 'text' | 'reasoning' | 'tool', text: string): LlmEvent | undefined {
  return text === '' ? undefined : { type: 'delta', part, text };
}

/** Undefined when the provider never reported why it stopped: the stream was cut. */
function readReason({ unified, raw }: LanguageModelV4FinishReason): LlmAnswer['finishReason'] | undefined {
  if (unified === 'tool-calls') return 'tool_calls';
  if (unified === 'content-filter') return 'content_filter';
  if (unified === 'stop' || unified === 'length') return unified;
  if (unified !== 'other' || !raw) return undefined;
  return /length|max_tokens/i.test(raw) ? 'length' : 'stop';
}

/** `inputTokens` counts all input, cached or not; what a provider does not report is 0. */
function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): LlmUsage {
  const cacheReadTokens = inputTokens.cacheRead ?? 0;
  const cacheWriteTokens = inputTokens.cacheWrite ?? 0;
  const total = inputTokens.total ?? (inputTokens.noCache ?? 0) + cacheReadTokens + cacheWriteTokens;
  return { inputTokens: total, outputTokens: outputTokens.total ?? 0, cacheReadTokens, cacheWriteTokens };
}
