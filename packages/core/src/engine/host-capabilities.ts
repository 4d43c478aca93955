/** What the engine asks of the process around it: it knows these interfaces alone, and others fulfil them. */
import type { Action, ActionDraft, LlmMetrics, ObservationDraft } from '@tendon/protocol';
import type { AnalyzerName } from '../policy/confirmation-policy.ts';
import type { Risk } from '../policy/risk.ts';
import type { Tool } from '../tools/define-tool.ts';

export type HookMoment = 'session_start' | 'before_action' | 'after_action' | 'stop' | 'before_compaction';

export interface HookEvent {
  readonly moment: HookMoment;
  /** As the engine spells it; only of an action. */
  readonly action?: Pick<Action, 'action' | 'args'>;
  readonly observation?: Pick<ObservationDraft, 'observation' | 'content' | 'extras'>;
}

/** What all hooks of a moment say together. */
export interface HookAnswer {
  readonly decision: 'go_on' | 'ask' | 'block';
  /** Of the first that asks or blocks, with its name. */
  readonly reason: string;
  /** For the model. */
  readonly words: readonly string[];
  /** One sentence for each that failed. */
  readonly problems: readonly string[];
}

export interface Hooks {
  /** Reads again what is configured. Never rejects. */
  refresh(): Promise<void>;
  has(moment: HookMoment): boolean;
  /** Never rejects; aborting ends the programs. */
  run(event: HookEvent, options: { readonly signal: AbortSignal }): Promise<HookAnswer>;
}

/** Adds what was spent to what was spent before. */
export type AddedCost = (before: LlmMetrics | undefined) => LlmMetrics;

export interface Analysis {
  readonly risk: Risk;
  /** Why the risk is not known; a part of a sentence. */
  readonly problem?: string;
  readonly spent?: AddedCost;
}

/** Judges the risk of one action; it never rejects, and what it cannot judge is of unknown risk. */
export interface RiskAnalyzer {
  analyze(action: ActionDraft, signal: AbortSignal): Promise<Analysis>;
}

export type Analyzers = { readonly [name in AnalyzerName]?: RiskAnalyzer };

export interface DelegatedTask {
  /** Id of the action: asked again for the same one, what was begun is attached to. */
  readonly actionId: number;
  /** As clients know agents, e.g. `CodeActAgent`. */
  readonly agent: string;
  readonly task: string;
  /** What is left of the delegating agent's. */
  readonly leftSteps: number;
  readonly leftUsd: number | undefined;
  /** When its work is stopped; default: when it ends. Counted from the action, so a restart gives it no more. */
  readonly endsAt?: Date | undefined;
  /** It works in a copy of the workspace, and its report says where its changes are. */
  readonly isIsolated?: boolean;
}

export interface DelegationCost {
  readonly costUsd: number;
  /** Of answers whose price nobody knows. */
  readonly unpricedTokens?: number | undefined;
}

export type Delegation =
  | ({ readonly ok: true; readonly report: string; readonly outputs: Readonly<Record<string, unknown>> } & DelegationCost)
  /** It was not begun; `reason` can be shown. */
  | { readonly ok: false; readonly reason: string };

/**
 * Aborting ends the other agent's work too and still resolves; with a signal that is aborted already nothing is begun, and what was begun ends. Rejects with the storage's error alone: when the write was undone, it is
 * asked again until there is space.
 */
export type Delegate = (task: DelegatedTask, options: { readonly signal: AbortSignal }) => Promise<Delegation>;

/** An event in which all words are. */
export interface PastHit {
  readonly conversationId: string;
  readonly title: string;
  readonly eventId: number;
  /** UTC ISO 8601. */
  readonly timestamp: string;
  /** Who wrote it, or what it came from. */
  readonly from: string;
  readonly excerpt: string;
}

export interface PastHits {
  readonly hits: readonly PastHit[];
  /** There was no time to look everywhere. */
  readonly isPartial: boolean;
}

/** Never rejects. The best hits first. */
export type SearchPast = (query: string, options: { readonly signal: AbortSignal }) => Promise<PastHits>;

export interface Note {
  /** `repository`: for the conversations of the same repository or folder. */
  readonly about: 'user' | 'repository';
  /** One line. Empty: the line `replaces` is removed. */
  readonly text: string;
  readonly replaces?: string | undefined;
}

export type Noted =
  | { readonly ok: true; readonly change: 'added' | 'replaced' | 'removed' | 'unchanged'; readonly file: string }
  | { readonly ok: false; readonly problem: string };

/** Never rejects. The same note a second time changes nothing, so a note that a kill interrupted is taken again. */
export type TakeNote = (note: Note) => Promise<Noted>;

/** Nothing when the user did not answer before `limit`, or the agent was stopped. */
export type AskUser = (
  question: { readonly content: string; readonly choices: readonly string[] },
  limit: AbortSignal,
) => Promise<string | undefined>;

/** Tools of MCP servers and of the user: something outside the engine offers and executes them. Neither call ever rejects. */
export interface ExternalTools {
  /** What is offered now; a server that cannot be reached offers nothing and holds nothing up for long. */
  offered(options: { readonly signal: AbortSignal }): Promise<readonly Tool[]>;
  /** Carries it out once. Aborting cancels it and still resolves. `ask`: for what the tool wants to know of the user. */
  call(action: Action<'call_tool_mcp'>, options: { readonly signal: AbortSignal; readonly ask: AskUser }): Promise<ObservationDraft>;
  /** With the conversation. */
  close(): Promise<void>;
}
