/**
 * Owns which conversations are stopped: it stops and starts them. It does not own what happens inside one.
 *
 * ST1  A stopped conversation continues when a client starts it or sends it an action; viewing it or restarting the server does not.
 * ST2  Starts and actions that arrive during a stop wait, and find the conversation stopped.
 */
import { KeyedMutex, type Runtimes } from '@tendon/core';
import type { ActionDraft, ActionKind, EventAuthor } from '@tendon/protocol';
import type { ConversationRecords } from './conversation-records.ts';
import type { OpenConversation, OpenConversations } from './open-conversations.ts';

/** How long an agent may take to end what it is doing before its sandbox is taken away. */
const STOP_MS = 5_000;
/** What the first generations of clients send for a state. */
const ENDS: ReadonlySet<ActionKind> = new Set(['stop', 'pause', 'finish']);

export class StoppedConversations {
  readonly #records: ConversationRecords;
  readonly #open: OpenConversations;
  readonly #runtimes: Runtimes;
  readonly #changing = new KeyedMutex();

  constructor(records: ConversationRecords, open: OpenConversations, runtimes: Runtimes) {
    this.#records = records;
    this.#open = open;
    this.#runtimes = runtimes;
  }

  /**
   * Opens it so that it takes messages, and lets the agent continue if the log says so. With `unlessStopped` a stopped conversation is
   * left as it is, and nothing is appended. False when there is none.
   */
  async start(id: string, { unlessStopped = false } = {}): Promise<boolean> {
    await this.afterStop(id);
    const record = await this.#records.get(id);
    if (!record || (record.stopped && unlessStopped)) return record !== undefined;
    if (record.stopped) {
      await this.#records.mark(id); // before it counts as started: a restart looks for it
      await this.#records.change(id, () => ({ stopped: false }));
    }
    const isOpen = this.#open.get(id) !== undefined;
    const held = await this.#open.enter(id);
    if (!held) return false;
    try {
      if (record.stopped || !(isOpen || unlessStopped)) await held.open.conversation.reopen();
      held.open.conversation.wake();
    } finally {
      held.release();
    }
    return true;
  }

  /** Ends the agent's work, the connections and the sandbox; what is recorded stays. `undefined`: no such conversation. */
  stop(id: string, author?: EventAuthor): Promise<{ readonly wasRunning: boolean } | undefined> {
    return this.#changing.run(id, async () => {
      const record = await this.#records.get(id);
      if (!record) return undefined;
      await this.#records.change(id, () => ({ stopped: true }));
      // One that left memory with a pending confirmation is opened: its action is answered as not executed.
      const waits = record.summary?.agent_state === 'awaiting_user_confirmation';
      await this.#endWork(id, await (waits ? this.#opened(id) : this.#open.opening(id)), author);
      return { wasRunning: !record.stopped };
    });
  }

  async #endWork(id: string, open: OpenConversation | undefined, author?: EventAuthor): Promise<void> {
    if (open?.isBusy()) await open.stopAgent(AbortSignal.timeout(STOP_MS), author);
    if (open) await this.#open.close(open);
    await this.#runtimes.stop(id);
    // Last: until then a restart has to finish it.
    await this.#records.unmark(id);
  }

  /** Stopped again only while its agent rests. False when a stop closed the conversation meanwhile: that came later, and counts. */
  setStopped(id: string, open: OpenConversation, stopped: boolean): Promise<boolean> {
    return this.#changing.run(id, async () => {
      if (open.ended.aborted) return false;
      if (stopped && open.isBusy()) return true;
      await this.#records.mark(id);
      await this.#records.change(id, (record) => (Boolean(record.stopped) === stopped ? undefined : { stopped }));
      return true;
    });
  }

  /** Completes a stop that was interrupted. */
  finishStop(id: string): Promise<void> {
    return this.#changing.run(id, async () => {
      const record = await this.#records.get(id);
      if (!record?.stopped) return;
      await this.#endWork(id, await this.#opened(id));
    });
  }

  async #opened(id: string): Promise<OpenConversation | undefined> {
    const held = await this.#open.enter(id);
    held?.release();
    return held?.open;
  }

  /** Resolves when no stop of the conversation is under way. */
  afterStop(id: string): Promise<void> {
    return this.#changing.run(id, () => undefined);
  }
}

/** Whether the action starts a stopped conversation; an end or a pause does not. */
export function startsStopped(action: ActionDraft): boolean {
  return action.action === 'change_agent_state' ? action.args.agent_state === 'running' : !ENDS.has(action.action);
}

/** Whether an agent works because of it; a verdict goes on with what was begun. */
export function beginsWork(action: ActionDraft): boolean {
  if (action.action === 'change_agent_state') return action.args.agent_state === 'running';
  return action.action === 'message' || action.action === 'start';
}
