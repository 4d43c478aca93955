import { randomBytes } from 'node:crypto';
import type { HostQuestion } from '@tendon/runtime';

/** Of one watch of a sandbox, by its server. */
export interface QuestionWatcher {
  /** The server has a person to ask. An older one watches too, and knows of no questions. */
  readonly onQuestion: ((question: HostQuestion) => void) | undefined;
}

interface WaitingQuestion {
  readonly incarnation: string;
  readonly question: HostQuestion;
  /** The text says why the connection is refused; nothing where the policy says it. */
  readonly answered: PromiseWithResolvers<string | undefined>;
  timer: NodeJS.Timeout;
}

export interface SandboxQuestionsOptions {
  /** How long a question waits for a server that is not there, e.g. because it is just being started again. */
  readonly absentMs?: number;
  /** Milliseconds since some beginning. */
  readonly now?: () => number;
}

/** How many questions a sandbox has begun in a period. */
interface Begun {
  readonly endsAt: number;
  readonly count: number;
}

/** Not longer than programs wait for a connection: see the server's own wait for a person. */
const ABSENT_MS = 8000;
/** The server decides when nobody answers; this is for one that never says so. */
const ANSWER_MS = 10 * 60_000;
const MAX_WAITING = 32;
/** A sandbox that tries again and again must not keep its server busy. */
const MAX_PER_PERIOD = 60;
const PERIOD_MS = 60_000;

/**
 * Questions of this host's sandboxes to a person: whether they may reach a name that is missing only from their conversation's list. The
 * server that watches the sandbox is sent the question, asks the person and answers here. Owns the questions that wait.
 *
 * SQU1  A question waits once, however many connections it has; it is answered once, by the server of exactly its sandbox.
 * SQU2  Whatever happens to the server, it waits for a bounded time. A server that watches again is sent it again.
 * SQU3  The questions of a sandbox are bounded, in number and in rate; beyond that the policy alone decides.
 * SQU4  If no server takes questions, nothing waits: the policy alone decides.
 */
export class SandboxQuestions {
  readonly #waiting = new Map<string, WaitingQuestion>();
  readonly #watchers = new Map<string, Set<QuestionWatcher>>();
  /** By incarnation. */
  readonly #begun = new Map<string, Begun>();
  readonly #absentMs: number;
  readonly #now: () => number;

  constructor({ absentMs = ABSENT_MS, now = () => performance.now() }: SandboxQuestionsOptions = {}) {
    this.#absentMs = absentMs;
    this.#now = now;
  }

  /** See `AskPerson`. */
  ask(incarnation: string, { host, port }: Pick<HostQuestion, 'host' | 'port'>): Promise<string | undefined> {
    const own = this.#of(incarnation);
    const known = own.find(({ question }) => question.host === host && question.port === port);
    if (known) return known.answered.promise;
    if (own.length >= MAX_WAITING || this.#isDeaf(incarnation) || !this.#mayBegin(incarnation)) return Promise.resolve(undefined);
    const question = { id: randomBytes(16).toString('hex'), host, port };
    const waiting: WaitingQuestion = { incarnation, question, answered: Promise.withResolvers(), timer: undefined as never };
    this.#waiting.set(question.id, waiting);
    this.#arm(waiting);
    for (const { onQuestion } of this.#watchers.get(incarnation) ?? []) onQuestion?.(question);
    return waiting.answered.promise;
  }

  /** Sends what waits now and what comes, until the returned function is called. */
  watch(incarnation: string, watcher: QuestionWatcher): () => void {
    const watchers = this.#watchers.get(incarnation) ?? new Set();
    this.#watchers.set(incarnation, watchers.add(watcher));
    this.repeat(incarnation, watcher);
    this.#watchersChanged(incarnation);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(incarnation) === watchers) this.#watchers.delete(incarnation);
      this.#watchersChanged(incarnation);
    };
  }

  /** Sends what waits once more: a line or its answer may have been lost. */
  repeat(incarnation: string, { onQuestion }: QuestionWatcher): void {
    for (const { question } of this.#of(incarnation)) onQuestion?.(question);
  }

  /** False where nobody waits for it (any more). */
  answer(incarnation: string, id: string, refusal: string | undefined): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting?.incarnation !== incarnation) return false;
    this.#settle(waiting, refusal);
    return true;
  }

  #settle({ question, answered, timer }: WaitingQuestion, refusal: string | undefined): void {
    clearTimeout(timer);
    this.#waiting.delete(question.id);
    answered.resolve(refusal);
  }

  #watchersChanged(incarnation: string): void {
    for (const waiting of this.#of(incarnation)) {
      if (this.#isDeaf(incarnation)) this.#settle(waiting, undefined);
      else this.#arm(waiting);
    }
  }

  #arm(waiting: WaitingQuestion): void {
    clearTimeout(waiting.timer);
    const ms = this.#watchers.has(waiting.incarnation) ? ANSWER_MS : this.#absentMs;
    waiting.timer = setTimeout(() => this.#settle(waiting, undefined), ms).unref();
  }

  #mayBegin(incarnation: string): boolean {
    const now = this.#now();
    for (const [one, { endsAt }] of this.#begun) if (endsAt <= now) this.#begun.delete(one);
    const { endsAt, count } = this.#begun.get(incarnation) ?? { endsAt: now + PERIOD_MS, count: 0 };
    if (count >= MAX_PER_PERIOD) return false;
    this.#begun.set(incarnation, { endsAt, count: count + 1 });
    return true;
  }

  /** Its server is there and takes no questions. */
  #isDeaf(incarnation: string): boolean {
    const watchers = [...(this.#watchers.get(incarnation) ?? [])];
    return watchers.length > 0 && watchers.every(({ onQuestion }) => onQuestion === undefined);
  }

  #of(incarnation: string): readonly WaitingQuestion[] {
    return [...this.#waiting.values()].filter((waiting) => waiting.incarnation === incarnation);
  }
}
