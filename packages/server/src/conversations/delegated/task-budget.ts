/**
 * What a conversation and the agents it has delegated to may spend together: dollars and steps, drawn from what the conversation has left.
 * It owns what is spent while they work; what was spent stands in their logs.
 *
 * TB1  Calls of the model that run at the same time are admitted while twice the dearest one so far fits for each of them; a call that
 *      does not fit waits, and alone it is made as long as anything is left. So all of them together overspend by one call at most.
 * TB2  Without a limit nothing waits.
 * TB3  All levels of a tree draw on one budget, that of its root: what a delegated agent delegates is drawn once.
 */
import { costOf, withStream, type LlmEvent, type LlmProvider } from '@tendon/core';
import { catalogError } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';

interface TaskLimits {
  /** Dollars that are left to the one that delegates; `undefined`: no limit. */
  readonly leftUsd: number | undefined;
  readonly leftSteps: number;
}

interface Member {
  readonly budget: TaskBudget;
  steps: number;
}

/** A call may cost this much more than the dearest before it. */
const MARGIN = 2;

class TaskBudget {
  #limits: TaskLimits;
  #drawn = { usd: 0, steps: 0 };
  #running = 0;
  #dearest = 0;
  #waiting: (() => void)[] = [];

  constructor(limits: TaskLimits) {
    this.#limits = limits;
  }

  get left(): TaskLimits {
    const { leftUsd, leftSteps } = this.#limits;
    const { usd, steps } = this.#drawn;
    return { leftUsd: leftUsd === undefined ? undefined : leftUsd - usd, leftSteps: leftSteps - steps };
  }

  /** What was drawn so far is drawn from these. */
  limitTo(limits: TaskLimits): void {
    this.#limits = limits;
    this.draw({ usd: 0, steps: 0 });
  }

  /** False when nothing is left, or the wait was aborted. */
  async enter(signal: AbortSignal): Promise<boolean> {
    while (!this.#fits()) {
      if (this.#isUsedUp() || signal.aborted) return false;
      const next = Promise.withResolvers<true>();
      this.#waiting.push(() => next.resolve(true));
      if (!(await unlessAborted(next.promise, signal))) return false;
    }
    this.#running++;
    this.draw({ usd: 0, steps: 1 });
    return true;
  }

  leave(costUsd: number): void {
    this.#running--;
    this.#dearest = Math.max(this.#dearest, costUsd);
    this.draw({ usd: costUsd, steps: 0 });
  }

  draw({ usd, steps }: { readonly usd: number; readonly steps: number }): void {
    this.#drawn = { usd: this.#drawn.usd + usd, steps: this.#drawn.steps + steps };
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #isUsedUp(): boolean {
    const { leftUsd, leftSteps } = this.left;
    return leftSteps <= 0 || (leftUsd !== undefined && leftUsd <= 0);
  }

  #fits(): boolean {
    const { leftUsd } = this.left;
    if (this.#isUsedUp()) return false;
    return leftUsd === undefined || this.#running === 0 || (this.#dearest > 0 && (this.#running + 1) * MARGIN * this.#dearest <= leftUsd);
  }
}

interface SharedBudget {
  readonly budget: TaskBudget;
  members: number;
  /** Its limits are those of the root. */
  isOfRoot: boolean;
}

/** Who delegates to whom, and the one above both to whom nobody delegated; it may be the parent. */
interface Place {
  readonly root: string;
  readonly parent: string;
  readonly child: string;
}

export class TaskBudgets {
  /** By the id of the root; as long as somebody works for it. */
  readonly #budgets = new Map<string, SharedBudget>();
  readonly #members = new Map<string, Member>();

  /**
   * The child works for the parent until the returned function is called. `spentUsd`: before this process. After a restart a child may go
   * on and delegate before the root has taken it up: its own limits count until then.
   */
  join({ root, parent, child }: Place, options: TaskLimits & { readonly spentUsd: number }): () => void {
    const shared = this.#budgets.get(root) ?? { budget: new TaskBudget(options), members: 0, isOfRoot: parent === root };
    this.#budgets.set(root, shared);
    if (parent === root && !shared.isOfRoot) {
      shared.budget.limitTo(options);
      shared.isOfRoot = true;
    }
    shared.members++;
    shared.budget.draw({ usd: options.spentUsd, steps: 0 });
    this.#members.set(child, { budget: shared.budget, steps: 0 });
    return () => {
      this.#members.delete(child);
      if (--shared.members === 0) this.#budgets.delete(root);
    };
  }

  /** What is left to this child, with its own steps so far; nothing for a conversation that works for no other. */
  leftTo(child: string): (TaskLimits & { readonly steps: number }) | undefined {
    const member = this.#members.get(child);
    return member && { ...member.budget.left, steps: member.steps };
  }

  /** The provider, whose calls wait for their place in the budget of the task. */
  metered(child: string, source: () => Promise<LlmProvider>): () => Promise<LlmProvider> {
    return async () => {
      const provider = await source();
      return withStream(provider, (request, options) => this.#metered(child, provider.stream(request, options), options.signal));
    };
  }

  async *#metered(child: string, events: AsyncIterable<LlmEvent>, signal: AbortSignal): AsyncIterable<LlmEvent> {
    const member = this.#members.get(child);
    if (!member) return yield* events;
    if (!(await member.budget.enter(signal))) {
      if (!signal.aborted) yield { type: 'failed', failure: { error: catalogError('LLM_FAILED', USED_UP), retryable: false } };
      return;
    }
    member.steps++;
    let costUsd = 0;
    let leave = (): void => {
      leave = () => undefined;
      member.budget.leave(costUsd);
    };
    // A provider that does not hear the abort holds no place.
    const left = (): void => leave();
    signal.addEventListener('abort', left, { once: true });
    try {
      for await (const event of events) {
        if (event.type === 'done') costUsd = costOf(event.answer);
        yield event;
      }
    } finally {
      signal.removeEventListener('abort', left);
      leave();
    }
  }
}

const USED_UP = 'what the whole task may cost, or the steps that it may take, are used up.';
