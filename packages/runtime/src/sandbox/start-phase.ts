import { abortable } from '@tendon/protocol/async';
import { isFenced } from '../transport/executor-connection.ts';

/** A start that failed: names the phase, its one-line cause, and what the sandbox printed last. */
export class StartFailed extends Error {
  override name = 'StartFailed';
  readonly phase: string;
  /** Its deadline passed; otherwise it failed at once. */
  readonly timedOut: boolean;

  constructor(phase: string, { cause, lastLines = '', timedOut = false }: { cause: string; lastLines?: string; timedOut?: boolean }) {
    const printed = lastLines === '' ? '' : `\nIt printed last:\n${lastLines}`;
    super(`The sandbox did not start (${phase}): ${cause}${printed}`);
    this.phase = phase;
    this.timedOut = timedOut;
  }
}

export interface PhaseOptions {
  /** As in "creating the process". */
  readonly name: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly lastLines?: () => Promise<string>;
}

/** Runs one phase of a start under its deadline. Rejects with `StartFailed`, with the signal's reason when that came first, or as it is when another server has the conversation. */
export async function inPhase<T>(options: PhaseOptions, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(options.deadlineMs);
  const signal = AbortSignal.any([options.signal, deadline]);
  try {
    signal.throwIfAborted();
    return await abortable(run(signal), signal);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (isFenced(error)) throw error;
    const cause = deadline.aborted ? `it took more than ${options.deadlineMs / 1000} seconds` : messageOf(error);
    throw new StartFailed(options.name, { cause, lastLines: await options.lastLines?.(), timedOut: deadline.aborted });
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
