import type { Event } from '@tendon/protocol';
import { diffLines } from '../run/diff-lines.ts';

/** Counts what one turn of the agent did and cost, from the log alone. */
export class TurnSummary {
  readonly #began: number;
  readonly #costBefore: number;
  readonly #files = new Set<string>();
  #added = 0;
  #removed = 0;
  #cost: number | undefined;

  /** `costUsd` is the cost of the conversation so far. `now` in milliseconds. */
  constructor(now: number, costUsd: number) {
    this.#began = now;
    this.#costBefore = costUsd;
  }

  take(event: Event): void {
    if ('unknown' in event) return;
    if (event.llm_metrics) this.#cost = event.llm_metrics.accumulated_cost;
    if (!('observation' in event) || event.observation !== 'edit' || event.content.startsWith('ERROR:')) return;
    this.#files.add(event.extras.path);
    const [, added = '0', removed = '0'] = /\+(\d+) −(\d+)/.exec(diffLines(event.extras.diff ?? '').total) ?? [];
    this.#added += Number(added);
    this.#removed += Number(removed);
  }

  get hasEdits(): boolean {
    return this.#files.size > 0;
  }

  /** `2 files +7 −1 · 12 s · $0.04`; parts that say nothing are left out, perhaps all. */
  words(now: number): string {
    const count = this.#files.size;
    const files = count === 0 ? '' : `${count} ${count === 1 ? 'file' : 'files'} +${this.#added} −${this.#removed}`;
    const cost = this.#cost === undefined ? 0 : this.#cost - this.#costBefore;
    return [files, duration(now - this.#began), cost > 0 ? `$${cost.toFixed(cost < 0.1 ? 4 : 2)}` : ''].filter(Boolean).join(' · ');
  }
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds === 0) return '';
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
