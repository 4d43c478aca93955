import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ReasoningPart, ProviderMetadata } from '@tendon/protocol';
import { failure } from './classify-failure.ts';
import { REASONING_FIELDS } from './reasoning-fields.ts';
import type { LlmAnswer, LlmEvent, LlmFailure, LlmToolCall, LlmUsage } from './llm-provider.ts';

/** An answer before its price and its latency are known. */
export type BareAnswer = Omit<LlmAnswer, 'costUsd' | 'latencyMs'>;

interface AboutAnswer {
  readonly model: string;
  /** Names the answer when the provider gives no id. */
  readonly fallbackId: string;
}

/**
 * Collects one streamed answer and judges whether it is complete.
 *
 * Invariants
 * AN1  What is judged complete carries a finish reason that the provider sent.
 * AN2  Reasoning is as it was sent, metadata included: one part for each block, with its place among text and calls.
 * AN3  The text of a tool call is as the model wrote it; an empty one, which means "no arguments", is `{}`.
 */
export class AnswerBuilder {
  readonly #about: AboutAnswer;
  #id = '';
  #text = '';
  readonly #reasoning = new Map<string, ReasoningPart>();
  readonly #calls: LlmToolCall[] = [];
  #finish: { readonly reason: LanguageModelV4FinishReason; readonly usage: LanguageModelV4Usage } | undefined;

  constructor(about: AboutAnswer) {
    this.#about = about;
  }

  /** Takes a part in; gives the event to pass on, if it is one. */
  add(part: LanguageModelV4StreamPart): LlmEvent | undefined {
    switch (part.type) {
      case 'text-delta':
        this.#text += part.delta;
        return delta('text', part.delta);
      case 'reasoning-start':
      case 'reasoning-end':
        this.#think(part.id, '', part.providerMetadata);
        return undefined;
      case 'reasoning-delta':
        this.#think(part.id, part.delta, part.providerMetadata);
        return delta('reasoning', part.delta);
      case 'tool-input-start':
        return { type: 'calling', tool: part.toolName };
      case 'tool-input-delta':
        return delta('tool', part.delta);
      case 'tool-call':
        this.#call(part);
        return undefined;
      case 'response-metadata':
        this.#id ||= part.id ?? '';
        return undefined;
      case 'finish':
        this.#finish = { reason: part.finishReason, usage: part.usage };
        this.#thinkIn(part.providerMetadata?.[REASONING_FIELDS]);
        return undefined;
      default:
        return undefined;
    }
  }

  /** The last metadata of a field wins: a signature comes when its block is whole. */
  #think(id: string, text: string, metadata: ProviderMetadata | undefined): void {
    const before = this.#reasoning.get(id);
    const at = before?.at ?? (this.#text === '' && this.#calls.length === 0 ? 0 : this.#calls.length + 1);
    const merged = mergedMetadata(before?.metadata, metadata);
    this.#reasoning.set(id, { text: (before?.text ?? '') + text, at, ...(merged && { metadata: merged }) });
  }

  /** In which fields of the answer it came: known at its end, and of the whole of it. */
  #thinkIn(fields: ProviderMetadata[string] | undefined): void {
    if (!fields) return;
    const [id = 'fields'] = this.#reasoning.keys();
    const before = this.#reasoning.get(id) ?? { text: '', at: 0 };
    this.#reasoning.set(id, { ...before, metadata: { ...before.metadata, [REASONING_FIELDS]: fields } });
  }

  #call({ toolCallId, toolName, input, providerMetadata }: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): void {
    const metadata = mergedMetadata(undefined, providerMetadata);
    this.#calls.push({ id: toolCallId, name: toolName, arguments: input.trim() === '' ? '{}' : input, ...(metadata && { metadata }) });
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
    const { model, fallbackId } = this.#about;
    const parts = [...this.#reasoning.values()].filter(({ text, metadata }) => text !== '' || metadata);
    return {
      id: this.#id || fallbackId,
      model,
      text: this.#text,
      toolCalls: this.#calls,
      ...(parts.length > 0 && { reasoning: parts }),
      finishReason: reason === 'stop' && this.#calls.length > 0 ? 'tool_calls' : reason,
      usage: readUsage(this.#finish.usage),
    };
  }
}

function mergedMetadata(before: ProviderMetadata | undefined, added: ProviderMetadata | undefined): ProviderMetadata | undefined {
  if (!added) return before;
  const merged = { ...before };
  for (const [name, fields] of Object.entries(added)) merged[name] = { ...merged[name], ...fields };
  return merged;
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
