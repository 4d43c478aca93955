import type { VolatileFrame } from '@tendon/protocol';
import type { Mutex } from '@tendon/protocol/async';
import type { Mask } from '@tendon/protocol/masking';
import type { Agent } from '../agents/agent.ts';
import type { Clock } from '../async/clock.ts';
import type { FoldedLog } from './folded-log.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { WriteRetry } from './write-retry.ts';
import type { Library } from '../knowledge/library.ts';
import type { LlmProvider } from '../llm/llm-provider.ts';
import type { ConfirmationPolicy } from '../policy/confirmation-policy.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Aborts } from './aborts.ts';
import type { LongMessages } from './long-messages.ts';
import type { LoopLimits } from './next-step.ts';
import type { ViewFeed } from './view-feed.ts';
import type { Hooks, Analyzers, Delegate, SearchPast, TakeNote, ExternalTools } from './host-capabilities.ts';

/** What happened: the log, its fold, and the model's view of it. */
export interface LogPorts {
  readonly log: EventLog;
  readonly folded: FoldedLog;
  /** For what others write so that the loop goes on. */
  readonly retry: WriteRetry;
  readonly view: ViewFeed;
  readonly longMessages: LongMessages;
}

/** What decides: the model, and what bounds it. */
export interface ModelPorts {
  /** The agent of the next turn. */
  readonly agent: () => Agent;
  /** Called once per turn, so that a changed setting counts from the next turn on. Rejects with a user-facing error. */
  readonly llm: () => Promise<LlmProvider>;
  /** For what needs less than a turn: summaries. */
  readonly smallLlm: () => Promise<LlmProvider>;
  readonly library: Library;
  readonly policy: ConfirmationPolicy;
  /** Asked about actions whose risk decides whether a person is asked. */
  readonly analyzers: Analyzers;
  /** Programs of the user that are asked; none where there are none. */
  readonly hooks: Hooks | undefined;
  readonly limits: LoopLimits;
}

/** What carries out actions that are not for the sandbox. */
interface ServicePorts {
  /** Has another agent do a part of the work; where there is none, an action `delegate` says so. */
  readonly delegate: Delegate | undefined;
  /** Searches this conversation and earlier ones; where nobody does, an action `recall` of the agent says so. */
  readonly past: SearchPast | undefined;
  /** Remembers lines for later conversations; where nobody does, a note of the agent says so. */
  readonly notes: TakeNote | undefined;
  /** Tools beside the agent's own; where there are none, an action `call_tool_mcp` says so. */
  readonly external: ExternalTools | undefined;
}

/** What carries actions out. */
export interface ActionPorts extends ServicePorts {
  readonly sandbox: Sandbox;
  /** Held while an action is carried out: one at a time, whether the agent or a user sent it. */
  readonly executing: Mutex;
  /** Held while a person has the agent's terminal: beside what is executing. */
  readonly holding: Mutex;
  readonly aborts: Aborts;
  /**
   * Unanswered actions that may have been sent to where they run, with the executor: those that were pending when the log was opened,
   * because another process may have sent them, and those that this process has sent.
   */
  readonly dispatched: Map<number, string | undefined>;
}

/** What the surrounding process gives. */
export interface HostPorts {
  readonly clock: Clock;
  readonly mask: Mask;
  readonly emit: (frame: VolatileFrame) => void;
  /** For the server's log: what failed and was shown to nobody in full. */
  readonly report: (error: unknown) => void;
}

/** Everything the loop works with; nothing else reaches it. */
export interface LoopPorts extends LogPorts, ModelPorts, ActionPorts, HostPorts {}
