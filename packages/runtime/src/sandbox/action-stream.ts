import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { ExecuteOptions, ExecuteResult, RunnableAction } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { ExecuteLine, ExecuteRequest } from '@tendon/protocol/executor-api';
import { TooMuch } from '@tendon/protocol/node';
import type { ExecutorClient } from './executor-client.ts';
import { isFenced, NotConnected, SandboxGone } from '../transport/executor-connection.ts';
import { invalidAnswer, observed } from './observed.ts';
import { messageOf } from './start-phase.ts';

export interface ActionStreamParts {
  readonly conversationId: string;
  readonly incarnation: string;
  readonly client: ExecutorClient;
  readonly retries: RetryLimits;
  /** Called when the executor lives but does not answer, or its host reports it gone. */
  readonly giveUp: (reason: string) => void;
  /** Called when the executor says that another server has the conversation. */
  readonly onFenced: () => void;
  /** Variables for one command alone. */
  readonly secretsFor: SecretsFor;
}

/** By name; what an action does not name is not among them. */
export type SecretsFor = (action: RunnableAction, conversationId: string) => Promise<ReadonlyMap<string, Secret>>;

/** What identifies an action to an executor. */
export interface EffectName {
  readonly key: string;
  readonly digest: string;
}

type LostReason = () => string | undefined;

/** How often a silent executor is asked whether it lives, and how many times it may fail to say so. */
const HEARTBEAT_MS = 15_000;
const MISSED_HEARTBEATS = 3;
/** Pauses between cancellations; after the last, a cancelled action is not waited for any longer. */
const CANCEL_PAUSES_MS = [200, 1000, 5000, 24_000] as const;
const RECONNECT_DELAYS_MS = [0, 20, 100, 500, 2000] as const;

/** One action on its way: sent, listened to, attached to again after a broken connection, cancelled. */
export class ActionStream {
  readonly #action: RunnableAction;
  readonly #key: string;
  readonly #digest: string;
  readonly #parts: ActionStreamParts;
  readonly #options: ExecuteOptions;
  readonly #lostReason: LostReason;
  /** Whether the key may have reached an executor, now or in an earlier life of the server. */
  #wasSent: boolean;
  /** The newest piece of output that was passed on. */
  #newest = { offset: -1, text: '' };
  /** Ends the listening; its reason is why the outcome is unknown. */
  readonly #end = new AbortController();

  constructor(
    action: RunnableAction,
    { key, digest }: EffectName,
    parts: ActionStreamParts,
    options: ExecuteOptions,
    lostReason: LostReason,
  ) {
    this.#action = action;
    this.#key = key;
    this.#digest = digest;
    this.#parts = parts;
    this.#options = options;
    this.#wasSent = options.isFresh !== true;
    this.#lostReason = lostReason;
  }

  async run(): Promise<ExecuteResult> {
    const done = new AbortController();
    const cancel = (): void => void this.#cancel(done.signal);
    this.#options.signal.addEventListener('abort', cancel, { once: true });
    if (this.#options.signal.aborted) cancel();
    void this.#heartbeat(done.signal);
    try {
      return await this.#untilOutcome();
    } finally {
      done.abort();
      this.#options.signal.removeEventListener('abort', cancel);
    }
  }

  async #untilOutcome(): Promise<ExecuteResult> {
    for (let failures = 0; ; failures += 1) {
      const before = this.#newest;
      const result = await this.#listen();
      if (result !== 'broken') return result;
      if (this.#end.signal.aborted) return this.#unknown(String(this.#end.signal.reason));
      if (this.#newest !== before) failures = 0;
      const waitMs = RECONNECT_DELAYS_MS[failures] ?? RECONNECT_DELAYS_MS.at(-1);
      const lost = this.#lostReason();
      if (lost !== undefined || failures >= this.#parts.retries.breaks)
        return this.#unknown(lost ?? 'the connection to the sandbox broke again and again');
      const gone = await this.#whyGone();
      if (gone !== undefined) return this.#unknown(this.#lostReason() ?? gone);
      await delay(waitMs);
    }
  }

  /** One connection. `broken` = ask whether the executor lives, then attach again. */
  async #listen(): Promise<ExecuteResult | 'broken'> {
    const signal = this.#end.signal;
    const wasSentBefore = this.#wasSent;
    try {
      const { traceparent } = this.#options;
      for await (const line of this.#parts.client.execute(await this.#request(), { signal, traceparent })) {
        this.#wasSent = true;
        const result = this.#take(line, wasSentBefore);
        if (result !== undefined) return result;
        // Of a command that prints without end megabytes are there at once: between two pieces everybody else gets a turn.
        await nextTurn();
      }
    } catch (error) {
      if (error instanceof TooMuch || error instanceof SyntaxError) {
        await this.#parts.client.cancel(this.#key, this.#digest).catch(() => {});
        return { outcome: 'observed', observation: invalidAnswer(error instanceof TooMuch ? error.message : 'it is not JSON') };
      }
      if (isFenced(error)) {
        this.#parts.onFenced();
        return { outcome: 'fenced', reason: error.message };
      }
      // The host of a sandbox that is no more has handed nothing on.
      if (!(error instanceof NotConnected || error instanceof SandboxGone)) this.#wasSent = true;
    }
    return 'broken';
  }

  #take(line: ExecuteLine, wasSentBefore: boolean): ExecuteResult | undefined {
    switch (line?.type) {
      case 'output':
        this.#output(line.offset, line.text);
        return undefined;
      case 'outcome':
        return { outcome: 'observed', observation: observed(this.#action.action, line.observation) };
      case 'unknown':
        return { outcome: 'unknown', reason: String(line.reason).slice(0, 1024) };
      case 'refused':
        return {
          outcome: wasSentBefore ? 'unknown' : 'not-started',
          reason: `the sandbox refused it: ${String(line.reason).slice(0, 1024)}`,
        };
      default:
        return { outcome: 'observed', observation: invalidAnswer('it is a line of no known type') };
    }
  }

  /**
   * After a broken connection the newest piece is asked for again, for only its beginning is known for sure: how many bytes it
   * was cannot be computed from a text that may have had broken characters. What was passed on is not passed on twice.
   */
  #output(offset: unknown, text: unknown): void {
    if (typeof text !== 'string' || !Number.isSafeInteger(offset) || (offset as number) < Math.max(0, this.#newest.offset)) return;
    const known = offset === this.#newest.offset ? this.#newest.text.length : 0;
    const fresh = text.slice(known);
    if (fresh === '') return;
    this.#newest = { offset: offset as number, text };
    this.#options.onOutput?.({ offset: (offset as number) + Buffer.byteLength(text.slice(0, known)), text: fresh });
  }

  async #request(): Promise<ExecuteRequest> {
    const { action, args, timeout } = this.#action;
    const secrets = [...(await this.#parts.secretsFor(this.#action, this.#parts.conversationId))].map(
      ([name, secret]) => [name, secret.reveal()] as const,
    );
    return {
      key: this.#key,
      digest: this.#digest,
      incarnation: this.#parts.incarnation,
      action: { action, args: args as Readonly<Record<string, unknown>>, ...(timeout !== undefined && { timeout }) },
      ...(secrets.length > 0 && { secrets: Object.fromEntries(secrets) }),
      ...(this.#options.onOutput && { outputFrom: Math.max(0, this.#newest.offset) }),
    };
  }

  /** Why the same incarnation answers no more; `undefined` when it does. */
  async #whyGone(): Promise<string | undefined> {
    const { retries, client, incarnation } = this.#parts;
    const retriesEnd = performance.now() + (this.#wasSent ? retries.sentMs : retries.unsentMs);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const alive = await client.alive({ signal: this.#end.signal });
        return alive.incarnation === incarnation ? undefined : 'the sandbox ended while it ran';
      } catch (error) {
        if (error instanceof SandboxGone) {
          this.#parts.giveUp(error.message);
          return error.message;
        }
        const isOver = attempt >= MISSED_HEARTBEATS && performance.now() >= retriesEnd;
        if (isOver || this.#lostReason() !== undefined || this.#end.signal.aborted)
          return retries.sentMs > 0 ? `the sandbox cannot be reached: ${messageOf(error)}` : 'the sandbox ended while it ran';
        // A moment for the watcher to see the process end; longer for a network.
        if (error instanceof NotConnected || retries.sentMs > 0) await delay(Math.min(200 * attempt, 2000));
      }
    }
  }

  #unknown(reason: string): ExecuteResult {
    return this.#wasSent ? { outcome: 'unknown', reason } : { outcome: 'not-started', reason };
  }

  async #heartbeat(done: AbortSignal): Promise<void> {
    let missed = 0;
    while (await pause(HEARTBEAT_MS, done)) {
      const isThere = await this.#parts.client.alive({ signal: done }).then(
        () => true,
        () => false,
      );
      missed = isThere ? 0 : missed + 1;
      if (missed < MISSED_HEARTBEATS || missed * HEARTBEAT_MS < this.#parts.retries.sentMs || done.aborted) continue;
      const reason = 'the sandbox does not answer any more';
      this.#end.abort(reason);
      return this.#parts.giveUp(reason);
    }
  }

  /** Sent more than once: the action itself may still be on its way, and an executor that has not seen the key has nothing to cancel. */
  async #cancel(done: AbortSignal): Promise<void> {
    for (const waitMs of CANCEL_PAUSES_MS) {
      await this.#parts.client.cancel(this.#key, this.#digest).catch(() => {});
      if (!(await pause(waitMs, done))) return;
    }
    this.#end.abort('it was cancelled and did not end');
  }
}

/** False when `done` came first. */
function pause(ms: number, done: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal: done, ref: false }).catch(() => false);
}

/** How much is forgiven before an action's outcome is called unknown. */
export interface RetryLimits {
  /** Breaks of one action's stream without output in between. */
  readonly breaks: number;
  /** An executor that does not answer is asked again for so long, while an action that may have reached it has no outcome. */
  readonly sentMs: number;
  /** The same for an action that cannot have reached it. */
  readonly unsentMs: number;
}

/** On one machine a connection that breaks means that its other end is gone. */
export const ON_THIS_HOST: RetryLimits = { breaks: 5, sentMs: 0, unsentMs: 0 };

/** A network comes and goes, and so does the program that stands before the sandboxes of another host. */
export const OVER_A_NETWORK: RetryLimits = { breaks: 50, sentMs: 120_000, unsentMs: 15_000 };
