import type { z } from 'zod';
import type { ACTIONS, OBSERVATIONS } from './kinds.ts';
import type { Parsed } from './define.ts';

/**
 * The canonical event: the 0.62 spelling with additive fields. Everything stored, folded and executed has this shape;
 * other generations are dialects at the edge. Events are frozen by `EventLog.append` and have no methods.
 */
export type EventSource = 'agent' | 'user' | 'environment';

/** The maximum length of a `client_id`. */
export const MAX_CLIENT_ID_CHARS = 128;

/** What `EventLog.append` gives an event. `id` is per conversation, from 0, gapless. `timestamp` is UTC ISO 8601 with `Z`. */
export interface EventMeta {
  readonly id: number;
  readonly timestamp: string;
  readonly source: EventSource;
}

/** The model call that an action came from; repeated on its observation, so that old clients can pair them. In the log, see model-answer.ts. */
export interface ToolCallMetadata {
  readonly function_name: string;
  readonly tool_call_id: string;
  readonly model_response: ModelResponse;
  readonly total_calls_in_response: number;
}

/** A chat completion in the shape clients know; `id` groups the calls of one answer. */
export interface ModelResponse {
  readonly id: string;
  readonly created?: number;
  readonly model: string;
  readonly object?: 'chat.completion';
  readonly choices: readonly {
    readonly finish_reason: string;
    readonly index: number;
    readonly message: {
      readonly content: string | null;
      readonly role: 'assistant';
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly type: 'function';
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
      readonly [key: string]: unknown;
    };
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly [key: string]: unknown;
  };
  /** Only in the log, on an event that refers to the answer: the place of its call. */
  readonly call_index?: number;
  readonly [key: string]: unknown;
}

/**
 * What a model thought before an answer, as it wants it back with later requests. It stands on the first event of the answer. Clients are
 * sent the texts only.
 */
export interface AnswerReasoning {
  /** As in the answer: no other model is sent it. */
  readonly model: string;
  readonly parts: readonly ReasoningPart[];
  /** What came with single calls, by their ids. Opaque. */
  readonly calls?: Readonly<Record<string, ProviderMetadata>>;
}

export interface ReasoningPart {
  /** Empty when it came encrypted. */
  readonly text: string;
  /** 0: before the answer's text; n: before its n-th call. */
  readonly at: number;
  /** A signature or the encrypted content. Opaque. */
  readonly metadata?: ProviderMetadata;
}

/** In the shape of the provider packages: by package, then by field. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Cost in US dollars and tokens, accumulated over the conversation up to and including this answer. */
export interface LlmMetrics {
  readonly accumulated_cost: number;
  /** Of answers whose price nobody knows; they are not part of the cost. */
  readonly unpriced_tokens?: number;
  readonly max_budget_per_task: number | null;
  readonly accumulated_token_usage: TokenUsage;
  readonly costs: readonly { readonly model: string; readonly cost: number; readonly timestamp: number }[];
  readonly response_latencies: readonly { readonly model: string; readonly latency: number; readonly response_id: string }[];
  readonly token_usages: readonly TokenUsage[];
}

export interface TokenUsage {
  readonly model: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly context_window: number;
  readonly per_turn_token: number;
  readonly response_id: string;
}

/** A person, as the server knew them when the event was appended. */
export interface EventAuthor {
  readonly id: string;
  readonly name: string;
}

/** Fields that any event may carry beside its kind's own. */
export interface EventExtensions {
  readonly cause?: number;
  readonly tool_call_metadata?: ToolCallMetadata;
  readonly llm_metrics?: LlmMetrics;
  readonly reasoning?: AnswerReasoning;
  /** Seconds, on actions. */
  readonly timeout?: number;
  /** On actions of clients: the client's own id, by which it recognizes its echo. An action that is sent again under it is not appended again. */
  readonly client_id?: string;
  /** On what a person did, and on an action that they approved or rejected: who, where the server has users. Never taken from a client. */
  readonly author?: EventAuthor;
  /** On runnable actions: the executor incarnation that was current when the action was appended. Never sent to clients. */
  readonly executor?: string;
  /** On actions that wait for a person: why they were not simply run. One sentence without a full stop. */
  readonly confirmation_reason?: string;
}

type ActionTable = typeof ACTIONS;
type ObservationTable = typeof OBSERVATIONS;

export type ActionKind = keyof ActionTable;
export type ObservationKind = keyof ObservationTable;

/** An action that has not been appended yet. */
export type ActionDraft<K extends ActionKind = ActionKind> = {
  [P in K]: EventExtensions & { readonly action: P; readonly args: z.output<ActionTable[P]['args']> };
}[K];

/** An action whose arguments its schema accepted, with a sane timeout and `client_id`: what a conversation takes from its clients. */
export type ParsedAction<K extends ActionKind = ActionKind> = ActionDraft<K> & Parsed;

/** An observation that has not been appended yet. */
export type ObservationDraft<K extends ObservationKind = ObservationKind> = {
  [P in K]: EventExtensions & {
    readonly observation: P;
    readonly content: string;
    readonly extras: z.output<ObservationTable[P]['extras']>;
    /** Only `run` and `run_ipython`. */
    readonly success?: boolean;
  };
}[K];

/** Anything whose kind this version does not know: stored as it came, passed on, never dropped. */
export interface UnknownDraft extends EventExtensions {
  readonly unknown: true;
  /** The JSON object as it was received, without `id`, `timestamp`, `source`. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export type EventDraft = ActionDraft | ObservationDraft | UnknownDraft;
export type Action<K extends ActionKind = ActionKind> = EventMeta & ActionDraft<K>;
export type Observation<K extends ObservationKind = ObservationKind> = EventMeta & ObservationDraft<K>;
export type UnknownEvent = EventMeta & UnknownDraft;
export type Event = Action | Observation | UnknownEvent;

export function isAction(event: Event): event is Action;
export function isAction(event: EventDraft): event is ActionDraft;
export function isAction(event: EventDraft): boolean {
  return 'action' in event;
}

export function isObservation(event: Event): event is Observation;
export function isObservation(event: EventDraft): event is ObservationDraft;
export function isObservation(event: EventDraft): boolean {
  return 'observation' in event;
}

export function isUnknown(event: Event): event is UnknownEvent;
export function isUnknown(event: EventDraft): event is UnknownDraft;
export function isUnknown(event: EventDraft): boolean {
  return 'unknown' in event;
}

/** Whether the event reports the agent's state to clients. */
export function isStateEvent(event: Event): boolean {
  return isObservation(event) && event.observation === 'agent_state_changed';
}
