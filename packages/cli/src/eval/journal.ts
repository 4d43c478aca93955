/**
 * What has happened so far in an evaluation: lines of JSON, appended and synced, so that the same command goes on after a kill.
 * It owns the file; the conversations are in the home beside it.
 *
 * J1  A result that was reported is in the file, and its attempt is not made again unless it was dropped or its task has changed.
 * J2  A line that a kill cut off counts as not written.
 */
import { open, readFile, type FileHandle } from 'node:fs/promises';
import type { TestVerdict } from './judge-tests.ts';

/** Why an attempt did not solve its task. */
export const FAILURES = ['check', 'time', 'cost', 'steps', 'declined', 'undecided', 'agent', 'setup', 'sandbox'] as const;
export type FailureKind = (typeof FAILURES)[number];

/** What an attempt took. */
export interface AttemptUse {
  readonly usd: number;
  /** Of answers whose price is not known. */
  readonly unpricedTokens: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Answers of the model. */
  readonly steps: number;
  readonly seconds: number;
}

export interface AttemptResult {
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
  readonly digest: string;
  readonly conversation: string;
  readonly solved: boolean;
  readonly failure?: FailureKind;
  /** The end of what the check printed, or what went wrong. Untrusted. */
  readonly detail: string;
  readonly use: AttemptUse;
  /** How many of the tests of a SWE-bench instance passed, where their log says it. */
  readonly tests?: TestVerdict['tests'];
}

type Line =
  | { readonly type: 'started'; readonly task: string; readonly attempt: number; readonly conversation: string }
  | ({ readonly type: 'finished' } & AttemptResult)
  /** An attempt that was cut off, and what it had cost. */
  | { readonly type: 'cut'; readonly conversation: string; readonly usd: number }
  /** It is to be made again; its cost counts. */
  | { readonly type: 'dropped'; readonly task: string; readonly attempt: number };

export class EvalJournal {
  readonly #file: FileHandle;
  readonly #results = new Map<string, AttemptResult>();
  readonly #running = new Set<string>();
  #earlierUsd = 0;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<EvalJournal> {
    const text = await readFile(path, 'utf8').catch(() => '');
    const file = await open(path, 'a', 0o600);
    // Whatever follows a line that was cut off must not become a part of it.
    if (text !== '' && !text.endsWith('\n')) await file.write('\n');
    const journal = new EvalJournal(file);
    for (const line of text.split('\n')) journal.#fold(parsed(line));
    return journal;
  }

  /** Of all attempts, also of those that count no longer. */
  get spentUsd(): number {
    return this.#earlierUsd + this.results.reduce((sum, { use }) => sum + use.usd, 0);
  }

  get results(): readonly AttemptResult[] {
    return [...this.#results.values()];
  }

  /** Conversations of attempts that have neither finished nor been accounted for. */
  get unfinished(): readonly string[] {
    return [...this.#running];
  }

  result(task: string, attempt: number): AttemptResult | undefined {
    return this.#results.get(keyOf({ task, attempt }));
  }

  /** Resolves when it is on the disk. */
  append(line: Line): Promise<void> {
    const written = this.#write(this.#writing, line);
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #write(before: Promise<unknown>, line: Line): Promise<void> {
    await before;
    await this.#file.write(`${JSON.stringify(line)}\n`);
    await this.#file.datasync();
    this.#fold(line);
  }

  #fold(line: Line | undefined): void {
    switch (line?.type) {
      case 'started':
        this.#running.add(line.conversation);
        return;
      case 'cut':
        this.#running.delete(line.conversation);
        this.#earlierUsd += line.usd;
        return;
      case 'dropped':
      case 'finished': {
        const before = this.#results.get(keyOf(line));
        this.#earlierUsd += before?.use.usd ?? 0;
        this.#results.delete(keyOf(line));
        if (line.type === 'dropped') return;
        const { type: _type, ...result } = line;
        this.#running.delete(line.conversation);
        this.#results.set(keyOf(line), result);
      }
    }
  }
}

function keyOf({ task, attempt }: { readonly task: string; readonly attempt: number }): string {
  return `${task}\n${attempt}`;
}

function parsed(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return undefined;
  }
}
