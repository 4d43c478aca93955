import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ChangeAgentStateAction, MessageAction, type AgentState, type Event, type LlmMetrics } from '@tendon/protocol';
import { shellQuote } from '@tendon/protocol/executor-api';
import { runSandboxCommand, systemClock, type CommandOutput, type Engine } from '@tendon/server/headless';
import { endOf, exitCodeOf, saysDone } from '../run/outcome.ts';
import type { AttemptUse, FailureKind } from './journal.ts';
import { judgeTests, type TestVerdict } from './judge-tests.ts';
import { CHECK_FOLDER, type EvalTask } from './task.ts';

export interface AttemptOptions {
  /** Aborts when nobody wants the attempt any longer. */
  readonly signal: AbortSignal;
  /** Called with the id before anything is done in it. */
  readonly onConversation: (id: string) => Promise<void>;
  /** Called with what it has cost so far, after each answer of the model. */
  readonly onCost: (usd: number) => void;
  /** Called when the agent has ended and before it is judged. */
  readonly onEnd: (id: string) => Promise<void>;
}

export interface AttemptOutcome {
  readonly solved: boolean;
  readonly failure?: FailureKind;
  readonly detail: string;
  readonly use: AttemptUse;
  /** The agent's changes, if the task says how to get them. */
  readonly patch?: string;
  /** How many of the task's own tests passed, if their log says so. */
  readonly tests?: TestVerdict['tests'];
}

/** The attempt was stopped from outside: it does not count. */
export class AttemptStopped extends Error {
  readonly usd: number;
  constructor(usd: number) {
    super('the attempt was stopped');
    this.usd = usd;
  }
}

/** How long an agent may take to stop, and a sandbox to start. */
const STOP_MS = 10_000;
const START_MS = 300_000;
const SETUP_SECONDS = 300;
const MAX_PATCH = 4_000_000;

/** One attempt in a conversation and sandbox of its own, then the check in another sandbox. Rejects with `AttemptStopped` alone. */
export async function runAttempt(engine: Engine, task: EvalTask, options: AttemptOptions): Promise<AttemptOutcome> {
  const agent = new AgentRun(engine, task, options);
  try {
    const failure = await agent.run();
    const judged = await judge(engine, task, agent);
    const { patch, tests } = judged;
    if (judged.isSolved) return { solved: true, detail: judged.detail, use: agent.use, patch, tests };
    return {
      solved: false,
      failure: failure?.kind ?? 'check',
      detail: failure?.words || judged.detail,
      use: agent.use,
      patch,
      tests,
    };
  } catch (error) {
    if (options.signal.aborted) throw new AttemptStopped(agent.use.usd);
    const failure = error instanceof SetupFailed ? 'setup' : 'sandbox';
    return { solved: false, failure, detail: error instanceof Error ? error.message : String(error), use: agent.use };
  } finally {
    await agent.end();
  }
}

class SetupFailed extends Error {}

interface AgentFailure {
  readonly kind: FailureKind;
  readonly words: string;
}

/** The agent's part of an attempt. Owns its conversation until `end`. */
class AgentRun {
  readonly #engine: Engine;
  readonly #task: EvalTask;
  readonly #options: AttemptOptions;
  readonly #startedMs = performance.now();
  #metrics: LlmMetrics | undefined;
  #steps = 0;
  #seconds = 0;
  #stopped: AgentFailure | undefined;
  id = '';
  workspace = '';

  constructor(engine: Engine, task: EvalTask, options: AttemptOptions) {
    this.#engine = engine;
    this.#task = task;
    this.#options = options;
  }

  get use(): AttemptUse {
    const { accumulated_cost: usd = 0, unpriced_tokens: unpricedTokens = 0, accumulated_token_usage: tokens } = this.#metrics ?? {};
    return {
      usd,
      unpricedTokens,
      promptTokens: tokens?.prompt_tokens ?? 0,
      completionTokens: tokens?.completion_tokens ?? 0,
      steps: this.#steps,
      seconds: Math.round(this.#seconds * 10) / 10,
    };
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Resolves with the reason if the agent did not end its task. */
  async run(): Promise<AgentFailure | undefined> {
    const { conversations } = this.#engine;
    const created = await conversations.create({ trigger: 'eval', maxIterations: this.#task.limits.steps });
    if (!created.ok) throw new Error(created.error.message);
    this.id = created.record.id;
    this.workspace = created.record.workspace;
    await this.#options.onConversation(this.id);
    await this.#prepare();
    this.signal.throwIfAborted();
    try {
      return await this.#follow();
    } finally {
      this.#seconds = (performance.now() - this.#startedMs) / 1000;
      await this.#stopAll(this.id);
      if (!this.signal.aborted) await this.#options.onEnd(this.id);
    }
  }

  /** Removes what is left of it except its record. */
  async end(): Promise<void> {
    if (this.id !== '') await this.#stopAll(this.id).catch(() => undefined);
  }

  /** Also the agents that it has asked for help: their sandboxes have the same workspace, and outlive their work. */
  async #stopAll(id: string): Promise<void> {
    const { conversations, runtimes } = this.#engine;
    await conversations.stop(id);
    for (const part of await conversations.delegatedBy(id)) await this.#stopAll(part);
    await runtimes.stop(id, { forGood: true });
  }

  async #prepare(): Promise<void> {
    const { setup, fill } = this.#task;
    await fill(this.workspace).catch((cause: unknown) => {
      throw new SetupFailed(`The workspace could not be made: ${String(cause)}`, { cause });
    });
    if (setup === undefined) return;
    const { exitCode, text } = await inSandbox(this.#engine, this, `bash -e -c ${shellQuote(setup)} 2>&1`, SETUP_SECONDS);
    if (exitCode !== 0) throw new SetupFailed(`The setup ended with ${exitCode}: ${text.slice(-1000)}`);
  }

  async #follow(): Promise<AgentFailure | undefined> {
    const held = await this.#engine.conversations.enter(this.id);
    if (!held) throw new Error('The conversation could not be opened.');
    const over = new AbortController();
    const limit = setTimeout(() => {
      this.#stop(over, { kind: 'time', words: `The agent was stopped after ${this.#task.limits.seconds} seconds.` });
    }, this.#task.limits.seconds * 1000);
    const onAborted = (): void => this.#stop(over, undefined);
    this.signal.addEventListener('abort', onAborted, { once: true });
    try {
      const submitted = await this.#engine.conversations.submit(this.id, MessageAction.create({ content: this.#task.prompt }));
      if (!submitted.ok) throw new Error(submitted.error.message);
      const events = held.open.conversation.log.follow(0, { signal: over.signal });
      const ended = await this.#untilEnd(events, submitted.event.id, over);
      this.signal.throwIfAborted();
      return this.#stopped ?? ended;
    } finally {
      clearTimeout(limit);
      this.signal.removeEventListener('abort', onAborted);
      held.release();
    }
  }

  async #untilEnd(events: AsyncIterable<Event>, taskId: number, over: AbortController): Promise<AgentFailure | undefined> {
    let isDone = true;
    for await (const event of events) {
      this.#count(event, over);
      isDone = saysDone(event) ?? isDone;
      const state = event.id > taskId ? endOf(event) : undefined;
      if (state) return exitCodeOf(state, { isDone, asks: false }) === 0 ? undefined : this.#failureOf(state, event);
    }
    return { kind: 'agent', words: 'The log ended before the agent did.' };
  }

  #count(event: Event, over: AbortController): void {
    if ('unknown' in event || !event.llm_metrics) return;
    this.#metrics = event.llm_metrics;
    if ('action' in event) this.#steps++;
    const { usd } = this.#task.limits;
    const spent = this.use.usd;
    this.#options.onCost(spent);
    if (usd !== undefined && spent >= usd) this.#stop(over, { kind: 'cost', words: `The agent was stopped at $${spent.toFixed(2)}.` });
  }

  /** Asks the agent to stop; the log is followed no longer than that may take. */
  #stop(over: AbortController, why: AgentFailure | undefined): void {
    this.#stopped ??= why;
    setTimeout(() => over.abort(), STOP_MS).unref();
    const stop = async (): Promise<void> => {
      const answer = await this.#engine.conversations.submit(this.id, ChangeAgentStateAction.create({ agent_state: 'stopped' }));
      if (!answer.ok) over.abort();
    };
    stop().catch(() => over.abort());
  }

  #failureOf(state: AgentState, event: Event): AgentFailure {
    const { content = '', extras } = event as { readonly content?: string; readonly extras?: { readonly reason?: string } };
    const words = content || extras?.reason || `The agent ended in the state ${state}.`;
    if (state === 'rejected') return { kind: 'declined', words: 'The agent declined the task.' };
    if (state === 'finished') return { kind: 'declined', words: 'The agent reported that it could not do the task.' };
    if (state === 'awaiting_user_confirmation') return { kind: 'undecided', words: 'The agent waits for a decision of a person.' };
    return { kind: state === 'error' && this.#steps >= this.#task.limits.steps ? 'steps' : 'agent', words };
  }
}

/** The check, brought in only now: the agent could neither read nor change it. */
async function judge(engine: Engine, { check, patch }: EvalTask, agent: AgentRun) {
  const folder = join(agent.workspace, CHECK_FOLDER);
  // No sandbox has the folder now. What the agent left there is no part of the check, and a link is not followed.
  await rm(folder, { recursive: true, force: true });
  const printed = patch === undefined ? undefined : await inSandbox(engine, agent, patch, check.seconds);
  // Programs of the agent that this has started (hooks of its repository) must not meet the check.
  if (printed) await engine.runtimes.stop(agent.id, { forGood: true });
  await mkdir(folder);
  await check.bring(folder);
  const { exitCode, text } = await inSandbox(engine, agent, `export CHECK="$PWD/${CHECK_FOLDER}"\n${check.command}`, check.seconds);
  const words = exitCode === -1 ? `${text}\nThe check took longer than ${check.seconds} seconds.` : text;
  const { isSolved, tests, words: lost } = check.tests ? judgeTests(text, exitCode, check.tests) : { isSolved: exitCode === 0, words: '' };
  const detail = [words.trim().slice(-2000), lost].filter((part) => part !== '').join('\n');
  return { isSolved, tests, detail, patch: printed?.text };
}

async function inSandbox(engine: Engine, agent: AgentRun, command: string, timeoutSeconds: number): Promise<CommandOutput> {
  const signal = AbortSignal.any([agent.signal, AbortSignal.timeout(START_MS)]);
  const runtime = await engine.runtimes.acquire(agent.id, { signal });
  const now = systemClock.now();
  const ran = await runSandboxCommand(runtime, command, { cwd: runtime.workspace, timeoutSeconds, maxBytes: MAX_PATCH, now });
  agent.signal.throwIfAborted();
  return ran;
}
