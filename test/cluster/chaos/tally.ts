/** Counts what happened to servers, by kind, and what it did to conversations. */
import type { Comparison } from './chaos-task.ts';

export const FAULTS = ['killed', 'frozen', 'frozen in mid action', 'cut off', 'Postgres killed', 'rolling update'] as const;
export type FaultKind = (typeof FAULTS)[number];

interface Kind {
  faults: number;
  /** Until each conversation that was at work went on, as its client saw it, in milliseconds. */
  readonly resumedMs: number[];
  /** Appends that were refused to a server that came back. */
  refused: number;
}

export class Tally {
  readonly kinds = Object.fromEntries(FAULTS.map((kind) => [kind, { faults: 0, resumedMs: [], refused: 0 }])) as unknown as Readonly<
    Record<FaultKind, Kind>
  >;
  readonly problems: string[] = [];
  conversations = 0;
  standDowns = 0;
  /** How often a server to which nothing had happened answered the balancer too late. */
  slow = 0;
  readonly #sums = { events: 0, lost: 0, doubled: 0, commands: 0, ranTwice: 0, unknown: 0, closings: 0 };
  readonly #began = performance.now();

  get minutes(): number {
    return (performance.now() - this.#began) / 60_000;
  }

  compared({ problems, ...counts }: Comparison): void {
    this.conversations += 1;
    for (const key of Object.keys(counts) as (keyof typeof counts)[]) this.#sums[key] += counts[key];
    for (const problem of problems) this.report(problem);
  }

  report(problem: string): void {
    this.problems.push(problem);
    process.stderr.write(`chaos: ${problem}\n`);
  }

  /** As docs have it. */
  table(): string {
    const { events, lost, doubled, commands, ranTwice, unknown, closings } = this.#sums;
    const rows = FAULTS.map((kind) => {
      const { faults, resumedMs, refused } = this.kinds[kind];
      const at = (share: number): string => seconds(resumedMs.toSorted((a, b) => a - b)[Math.ceil(resumedMs.length * share) - 1]);
      return `| ${kind} | ${faults} | ${resumedMs.length} | ${at(0.5)} | ${at(0.95)} | ${at(1)} | ${refused} |`;
    });
    return [
      '| what happened to a server | times | conversations at work on it | went on after, s: median | p95 | longest | appends refused to it afterwards |',
      '|---|---|---|---|---|---|---|',
      ...rows,
      '',
      `${this.conversations} conversations in ${this.minutes.toFixed(0)} minutes: ${events} events compared, ${lost} lost, ${doubled} doubled; ` +
        `${commands} commands, ${ranTwice} run twice, ${unknown} with an unknown outcome; ${this.standDowns} stand-downs; ` +
        `${closings} disconnections of clients, ${this.slow} servers that the balancer gave up without need; ${this.problems.length} problems.`,
    ].join('\n');
  }
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? '–' : (ms / 1_000).toFixed(1);
}
