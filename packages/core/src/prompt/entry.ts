import type { AnswerReasoning } from '@tendon/protocol';
import type { LlmToolCall } from '../llm/llm-provider.ts';

/** What one event says to the model, before calls and results are brought together. */
export type Saying =
  | { readonly says: 'system'; readonly text: string }
  | {
      readonly says: 'user';
      readonly text: string;
      readonly imageUrls?: readonly string[];
      /** Never forgotten by a condensation. */
      readonly pinned?: boolean;
    }
  | { readonly says: 'assistant'; readonly text: string }
  /** A call of a tool; `result` when the action answers itself. */
  | { readonly says: 'call'; readonly result?: string }
  /** The whole text, however long. */
  | { readonly says: 'result'; readonly text: string; readonly imageUrls?: readonly string[] }
  | { readonly says: 'nothing' };

export const NOTHING: Saying = Object.freeze({ says: 'nothing' });

/** All that a view holds. */
export interface ViewContent {
  /** Id of the next event to add. */
  readonly nextId: number;
  readonly system: { readonly eventId: number; readonly text: string } | undefined;
  readonly entries: readonly ViewEntry[];
  /** The last answer with calls, until the agent's next event: only it can still get results. */
  readonly open: CallsEntry | undefined;
}

/** A piece of the view, in log order. `eventIds` are the events it came from. */
export type ViewEntry = TextEntry | CallsEntry;

export interface TextEntry {
  readonly type: 'text';
  readonly role: 'user' | 'assistant';
  readonly eventId: number;
  readonly text: string;
  readonly reasoning?: AnswerReasoning;
  readonly imageUrls?: readonly string[];
  readonly pinned: boolean;
  /** The tool that answered after the model had gone on. */
  readonly late?: string;
  /** The file that holds all of a long message of the user, in the workspace, or of a long result. */
  readonly file?: string;
  /** Of a condensation. */
  readonly isSummary?: true;
  /** Of a summary that was edited: the event of the edit. */
  readonly editId?: number;
  /** `text` is a part of the message. */
  readonly isExcerpt?: true;
}

/** One answer of the model with its calls. Only the view that made it changes it, and only by adding. */
export interface CallsEntry {
  readonly type: 'calls';
  /** The event that brought the answer. */
  readonly openedBy: number;
  /** Id of the model's response; an answer that has none is its own group. */
  readonly key: string;
  readonly text: string;
  readonly reasoning?: AnswerReasoning;
  readonly calls: CallEntry[];
}

export interface CallEntry {
  /** As the model named it. */
  readonly id: string;
  /** As the request shows it: the id unique in the request, id and arguments legal for every provider. */
  readonly call: LlmToolCall;
  /** Actions (a confirmed one is added again) or the error that stands for a call that could not be understood. */
  readonly eventIds: number[];
  result: CallResult | undefined;
}

export interface CallResult {
  readonly eventId: number;
  readonly text: string;
  readonly imageUrls?: readonly string[];
  /** Of a long result, of which `text` is a part: the file that holds all of it. */
  readonly file?: string;
  /** What a condensation took out of it. */
  readonly cleared?: Cleared;
}

export type Cleared = 'text' | 'pictures' | 'text and pictures';
