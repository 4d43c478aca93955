/**
 * What the user wants to happen to a run that is under way.
 *
 * IN1  The first Ctrl-C (or SIGTERM, SIGHUP, or a reader that went away) asks; the second one forces.
 * IN2  A signal before anything runs ends the program at once.
 */
import type { Writable } from 'node:stream';
import { EXIT } from '../add-command.ts';

export interface Interruption extends Disposable {
  /** Aborts when the user asks to stop. */
  readonly asked: AbortSignal;
  /** Aborts when the user does not want to wait. */
  readonly forced: AbortSignal;
  /** Called when there is something to stop first. */
  armed(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function watchInterruption(output: Writable): Interruption {
  const asked = new AbortController();
  const forced = new AbortController();
  let isArmed = false;
  const onSignal = () => {
    if (!isArmed) process.exit(EXIT.interrupted);
    (asked.signal.aborted ? forced : asked).abort();
  };
  const onBrokenPipe = () => (isArmed ? asked.abort() : process.exit(EXIT.interrupted));
  for (const signal of SIGNALS) process.on(signal, onSignal);
  output.on('error', onBrokenPipe);
  return {
    asked: asked.signal,
    forced: forced.signal,
    armed: () => void (isArmed = true),
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
