/**
 * Runs an agent over the tasks of a dataset. Owns the folder of the results: the journal, the home in which the conversations are stored,
 * the trajectories and the report.
 *
 * RU1  An attempt that has finished is in the journal before it is reported, and is not made again (J1).
 * RU2  An attempt that was cut off leaves nothing but its cost, which counts for the budget.
 */
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { atifText, composeEngine, removeFolder, systemClock, trajectoryText, type Config, type Engine } from '@tendon/server/headless';
import { EXIT } from '../add-command.ts';
import type { Interruption } from '../terminal/interruption.ts';
import { printable } from '../terminal/printable.ts';
import { evalTotals, type EvalReport } from './eval-figures.ts';
import { EvalJournal, type AttemptResult } from './journal.ts';
import { reportPage } from './report-page.ts';
import { AttemptStopped, runAttempt } from './run-attempt.ts';
import type { EvalTask } from './task.ts';

/** Which attempts are made, and at what cost. */
interface EvalPlan {
  /** A description for the report. */
  readonly dataset: string;
  readonly model: string;
  readonly tasks: readonly EvalTask[];
  readonly jobs: number;
  readonly repeat: number;
  /** Dollars for the whole run, including earlier parts of it. */
  readonly budget: number | undefined;
  /** Which finished attempts are repeated. */
  readonly again: 'failed' | 'all' | undefined;
}

export interface EvalOptions extends EvalPlan {
  readonly config: Config;
  /** The folder of the results. */
  readonly out: string;
  readonly savesWorkspaces: boolean;
  /** Trajectories are written in ATIF too. */
  readonly atif: boolean;
  readonly notify: (line: string) => void;
}

interface Attempt {
  readonly task: EvalTask;
  readonly attempt: number;
}

export interface EvalEnd {
  readonly exitCode: number;
  readonly report: EvalReport;
}

/** Makes the remaining attempts, and writes the report. Rejects with a user-facing error. */
export async function runEval(options: EvalOptions, interruption: Interruption): Promise<EvalEnd> {
  await mkdir(join(options.out, 'trajectories'), { recursive: true });
  const engine = await composeEngine(options.config, { clock: systemClock, questionWaitMs: 0 });
  try {
    const journal = await EvalJournal.open(join(options.out, 'results.jsonl'));
    try {
      return await new Evaluation(engine, journal, options, interruption).run();
    } finally {
      await journal.close();
    }
  } finally {
    await engine.close();
  }
}

class Evaluation {
  readonly #engine: Engine;
  readonly #journal: EvalJournal;
  readonly #options: EvalOptions;
  readonly #interruption: Interruption;
  /** Aborts when the budget is used up. */
  readonly #spent = new AbortController();
  /** The dollars of running attempts, by conversation. */
  readonly #running = new Map<string, number>();
  #done = 0;

  constructor(engine: Engine, journal: EvalJournal, options: EvalOptions, interruption: Interruption) {
    this.#engine = engine;
    this.#journal = journal;
    this.#options = options;
    this.#interruption = interruption;
  }

  async run(): Promise<EvalEnd> {
    const { out, jobs, notify } = this.#options;
    await this.#clearCut();
    await this.#drop();
    const all = this.#attempts();
    const queue = all.filter((attempt) => !this.#resultOf(attempt));
    if (queue.length < all.length) notify(`${all.length - queue.length} of ${all.length} attempts are finished already.`);
    this.#checkBudget();
    this.#done = all.length - queue.length;
    const signal = AbortSignal.any([this.#interruption.asked, this.#spent.signal]);
    await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, () => this.#work(queue, all.length, signal)));
    const results = all.flatMap((attempt) => this.#resultOf(attempt) ?? []);
    const report = this.#report(results, all.length - results.length);
    await writeReport(out, report);
    await this.#writePredictions(results);
    return { exitCode: this.#exitCode(report), report };
  }

  #attempts(): readonly Attempt[] {
    const { tasks, repeat } = this.#options;
    return Array.from({ length: repeat }, (_, index) => tasks.map((task) => ({ task, attempt: index + 1 }))).flat();
  }

  /** Of this very task: one that has changed since is made again. */
  #resultOf({ task, attempt }: Attempt): AttemptResult | undefined {
    const result = this.#journal.result(task.id, attempt);
    return result?.digest === task.digest ? result : undefined;
  }

  /** Clears the attempts in which an earlier run was killed. */
  async #clearCut(): Promise<void> {
    await this.#engine.runtimes.reconcile();
    for (const id of this.#journal.unfinished) await this.#cut(id, await this.#costOf(id));
  }

  async #costOf(id: string): Promise<number> {
    const events = (await (await this.#engine.conversations.log(id))?.read()) ?? [];
    const last = events.findLast((event) => !('unknown' in event) && event.llm_metrics);
    return last && !('unknown' in last) ? (last.llm_metrics?.accumulated_cost ?? 0) : 0;
  }

  async #cut(conversation: string, usd: number): Promise<void> {
    await this.#journal.append({ type: 'cut', conversation, usd });
    await this.#engine.conversations.delete(conversation);
  }

  async #drop(): Promise<void> {
    const { again } = this.#options;
    if (again === undefined) return;
    for (const attempt of this.#attempts()) {
      const result = this.#resultOf(attempt);
      if (result && (again === 'all' || !result.solved))
        await this.#journal.append({ type: 'dropped', task: result.task, attempt: result.attempt });
    }
  }

  async #work(queue: Attempt[], all: number, signal: AbortSignal): Promise<void> {
    for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift()) {
      const result = await this.#make(next, signal);
      if (result) this.#options.notify(`[${++this.#done}/${all}] ${resultLine(result)}`);
    }
  }

  /** Undefined if it was stopped from outside. */
  async #make({ task, attempt }: Attempt, signal: AbortSignal): Promise<AttemptResult | undefined> {
    const { savesWorkspaces } = this.#options;
    let conversation = '';
    try {
      const outcome = await runAttempt(this.#engine, task, {
        signal,
        onConversation: async (id) => {
          conversation = id;
          this.#running.set(id, 0);
          await this.#journal.append({ type: 'started', task: task.id, attempt, conversation });
        },
        onCost: (usd) => {
          this.#running.set(conversation, usd);
          this.#checkBudget();
        },
        onEnd: (id) => this.#saveTrajectory(id, { task: task.id, attempt }),
      });
      const { patch, ...rest } = outcome;
      if (patch !== undefined) await this.#savePatch(task.id, attempt, patch);
      const result: AttemptResult = { task: task.id, attempt, digest: task.digest, conversation, ...rest };
      this.#running.delete(conversation);
      await this.#journal.append({ type: 'finished', ...result });
      const record = await this.#engine.conversations.get(conversation);
      if (record && !savesWorkspaces) await removeFolder(record.workspace);
      return result;
    } catch (error) {
      if (!(error instanceof AttemptStopped)) throw error;
      this.#running.delete(conversation);
      if (conversation !== '') await this.#cut(conversation, error.usd);
      return undefined;
    }
  }

  #checkBudget(): void {
    const { budget } = this.#options;
    const running = [...this.#running.values()].reduce((sum, usd) => sum + usd, 0);
    if (budget !== undefined && this.#journal.spentUsd + running >= budget) this.#spent.abort();
  }

  async #saveTrajectory(id: string, result: Pick<AttemptResult, 'task' | 'attempt'>): Promise<void> {
    const { out, atif } = this.#options;
    const log = await this.#engine.conversations.log(id);
    if (!log) return;
    await writeText(join(out, trajectoryName(result)), trajectoryText(log));
    if (atif) await writeText(join(out, atifName(result)), atifText(log));
  }

  async #savePatch(task: string, attempt: number, patch: string): Promise<void> {
    const folder = join(this.#options.out, 'patches');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${task}.${attempt}.patch`), patch);
  }

  /** The patches in the shape that other harnesses of such sets read. */
  async #writePredictions(results: readonly AttemptResult[]): Promise<void> {
    const { out, model } = this.#options;
    const lines: string[] = [];
    for (const { task, attempt } of results.filter((result) => result.attempt === 1)) {
      const patch = await readFile(join(out, 'patches', `${task}.${attempt}.patch`), 'utf8').catch(() => undefined);
      if (patch !== undefined) lines.push(`${JSON.stringify({ instance_id: task, model_name_or_path: model, model_patch: patch })}\n`);
    }
    if (lines.length > 0) await replaceFile(join(out, 'predictions.jsonl'), lines.join(''));
  }

  #report(results: readonly AttemptResult[], left: number): EvalReport {
    const { dataset, model, tasks, out } = this.#options;
    const tags = new Map(tasks.map((task) => [task.id, task.tags]));
    const attempts = results.map((result) => ({
      ...result,
      tags: tags.get(result.task) ?? [],
      trajectory: trajectoryName(result),
      ...(existsSync(join(out, atifName(result))) && { atif: atifName(result) }),
    }));
    return { dataset, model, totals: evalTotals(results, { left, usd: this.#journal.spentUsd }), attempts };
  }

  #exitCode({ totals }: EvalReport): number {
    const { notify, budget = 0 } = this.#options;
    if (this.#interruption.asked.aborted) {
      notify(`Stopped; ${totals.left} attempts are left. The same command goes on.`);
      return EXIT.interrupted;
    }
    if (this.#spent.signal.aborted)
      notify(`The budget of $${budget.toFixed(2)} is used up; ${totals.left} attempts are left. Go on with a higher --budget.`);
    return totals.left === 0 && totals.tasksSolved === totals.tasks ? EXIT.done : EXIT.failed;
  }
}

function trajectoryName({ task, attempt }: Pick<AttemptResult, 'task' | 'attempt'>): string {
  return `trajectories/${task}.${attempt}.json`;
}

function atifName({ task, attempt }: Pick<AttemptResult, 'task' | 'attempt'>): string {
  return `trajectories/${task}.${attempt}.atif.json`;
}

function writeText(path: string, text: AsyncIterable<string>): Promise<void> {
  return pipeline(Readable.from(text), createWriteStream(path, { mode: 0o600 }));
}

function resultLine({ task, attempt, solved, failure, detail, use }: AttemptResult): string {
  const [reason = ''] = printable(detail).trim().split('\n').slice(-1);
  const why = solved ? 'solved' : `failed (${failure}): ${reason.slice(0, 120)}`;
  return `${task}${attempt > 1 ? ` #${attempt}` : ''}: ${why} · ${use.steps} steps, $${use.usd.toFixed(3)}, ${use.seconds} s`;
}

async function writeReport(out: string, report: EvalReport): Promise<void> {
  await replaceFile(join(out, 'report.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  await replaceFile(join(out, 'report.html'), reportPage(report));
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
