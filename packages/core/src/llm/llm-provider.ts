import type { AnswerReasoning, CatalogError, ProviderMetadata, ReasoningPart } from '@tendon/protocol';

/** Provider-neutral messages. Every prefix of every log projects to a legal list of these. */
export type LlmMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string; readonly imageUrls?: readonly string[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls?: readonly LlmToolCall[];
      /** Sent only to the model that made it. */
      readonly reasoning?: Reasoning;
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
      readonly imageUrls?: readonly string[];
    };

/** In the words of the provider packages; each maps them to what its model knows. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

export const TOOL_CALLING = ['auto', 'native', 'text'] as const;
/** `auto`: native, until the endpoint refuses it. */
export type ToolCalling = (typeof TOOL_CALLING)[number];

/** As in the log, but that what came with calls stands on the calls. */
export type Reasoning = Pick<AnswerReasoning, 'model' | 'parts'>;

export interface LlmToolCall {
  readonly id: string;
  readonly name: string;
  /** The JSON text as the model wrote it; parsed and checked by the turn, never repaired. */
  readonly arguments: string;
  /** What came with the call, for the model that made it. Opaque. */
  readonly metadata?: ProviderMetadata;
}

/** A tool as it is offered: JSON Schema of its arguments. */
export interface LlmToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface LlmRequest {
  readonly messages: readonly LlmMessage[];
  readonly tools: readonly LlmToolSpec[];
}

export interface LlmUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** A complete answer. Only a complete answer becomes actions. */
export interface LlmAnswer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly LlmToolCall[];
  /** Undefined when the model did not think, or nothing of it was sent. */
  readonly reasoning?: readonly ReasoningPart[];
  readonly finishReason: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  readonly usage: LlmUsage;
  /** US dollars; 0 when the price is unknown. */
  readonly costUsd: number;
  /** Nobody knows the price: what it costs is counted in tokens. */
  readonly isUnpriced?: true;
  readonly latencyMs: number;
}

/** A failure, classified once at the border. */
export interface LlmFailure {
  readonly error: CatalogError;
  readonly retryable: boolean;
  /** From `Retry-After`, when the provider gave it. */
  readonly retryAfterMs?: number;
  /** With a full window: its size in tokens, where the endpoint says it. */
  readonly contextWindow?: number;
  /** The endpoint refuses that tools are offered at all. */
  readonly refused?: 'tools';
}

export type LlmEvent =
  /** The model has begun to write a call of this tool: what it needs can be made ready. Not every provider says so. */
  | { readonly type: 'calling'; readonly tool: string }
  | { readonly type: 'delta'; readonly part: 'text' | 'reasoning' | 'tool'; readonly text: string }
  /**
   * `limit` other requests are in flight at the endpoint, or so many conversations of the server are at work, and this many wait before
   * this one. `admitted` follows when its turn has come.
   */
  | { readonly type: 'queued'; readonly ahead: number; readonly limit: number; readonly at?: 'server' }
  | { readonly type: 'admitted' }
  /** Sent by the retrying wrapper: deltas so far are void, the next attempt begins at `resumesAt`. */
  | { readonly type: 'retry'; readonly failure: LlmFailure; readonly attempt: number; readonly resumesAt: Date }
  /** Another model answers from here on: deltas so far are void. Sent before each of its answers. */
  | { readonly type: 'fallback'; readonly failure: LlmFailure; readonly from: string; readonly to: string }
  | { readonly type: 'done'; readonly answer: LlmAnswer }
  | { readonly type: 'failed'; readonly failure: LlmFailure };

/**
 * Streams one answer. Never throws: the stream ends with exactly one `done` or `failed`; after an abort it may also just end.
 * A cut stream and an empty answer are failures, never a `done`. With `length` the last tool call may be half of one: none is carried out.
 */
export interface LlmProvider {
  /** litellm's `provider/model`, as shown. */
  readonly model: string;
  /** Tokens; undefined when nobody knows. */
  readonly contextWindow: number | undefined;
  /** True for the scripted providers: shown in the UI. */
  readonly scripted: boolean;
  stream(request: LlmRequest, options: { readonly signal: AbortSignal }): AsyncIterable<LlmEvent>;
}

/** The provider, asked another way. Its window may become known while it is asked. */
export function withStream(provider: LlmProvider, stream: LlmProvider['stream']): LlmProvider {
  return {
    model: provider.model,
    get contextWindow() {
      return provider.contextWindow;
    },
    scripted: provider.scripted,
    stream,
  };
}
