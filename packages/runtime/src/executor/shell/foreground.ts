import type { EchoFilter } from './echo-filter.ts';
import { createEchoFilter } from './echo-filter.ts';
import type { Report } from './report-reader.ts';
import type { TerminalText } from './terminal-text.ts';

/** A command on the session's terminal, as those see it who wait for it. */
export interface Foreground {
  readonly command: string;
  /** What was printed since the last take. */
  readonly text: TerminalText;
  ended: Ended | undefined;
  /** Milliseconds of `performance.now()`. */
  lastOutputAt: number;
  /** Called with raw output as it comes; set by whoever waits. */
  onOutput: ((text: string) => void) | undefined;
  onEnd: (() => void) | undefined;
  /** Of the keys sent to it, whether Ctrl-C was among them. */
  interrupted: boolean;
  /** What was typed comes back first, if the terminal echoes it; it is no output. */
  expectEcho(text: string | undefined): void;
}

export interface Ended {
  /** −1: nobody can tell. */
  readonly exitCode: number;
  readonly shell: ShellAfter;
}

/**
 * What became of the shell: it is the same; the command ended it; the command broke it, so that it had to be replaced; or it was
 * broken before and never took the command.
 */
export type ShellAfter = 'same' | 'ended' | 'broken' | 'deaf';

/** What the session keeps of it beside that. */
export interface Running extends Foreground {
  readonly id: string;
  readonly echo: EchoFilter;
  /** `typed`: handed to a shell that has not taken it up; what comes meanwhile is kept apart, its echo is in it. */
  phase: 'typed' | 'begun';
  kept: string;
  report: Report | undefined;
  /** The mark in the output, where it ends. */
  marked: { readonly exitCode: number } | undefined;
  /** Where its shell is being replaced. */
  after: ShellAfter | undefined;
}

const MAX_KEPT = 65_536;

export function createRunning(id: string, command: string, text: TerminalText): Running {
  const echo = createEchoFilter();
  return {
    ...{ id, command, text, echo, expectEcho: echo.expect, lastOutputAt: performance.now() },
    ...{ phase: 'typed', kept: '', report: undefined, marked: undefined, after: undefined },
    ...{ ended: undefined, onOutput: undefined, onEnd: undefined, interrupted: false },
  };
}

/** Output as it came from the terminal. */
export function receive(running: Running, text: string): void {
  running.lastOutputAt = performance.now();
  if (running.phase === 'typed') {
    running.kept = (running.kept + text).slice(-MAX_KEPT);
    return;
  }
  const output = running.echo.strip(text);
  if (output === '') return;
  running.text.write(output);
  // The terminal passes line ends on as they are; who follows along gets them as terminals do (one character is found fastest).
  running.onOutput?.(output.replace(output.includes('\r') ? /\r?\n/g : /\n/g, '\r\n'));
}

/** From here on what comes is output; of what was kept, all but the echo. */
export function begin(running: Running, echoes: readonly string[]): void {
  const { kept } = running;
  running.phase = 'begun';
  running.kept = '';
  receive(
    running,
    echoes.reduce((text, echo) => text.replace(echo, ''), kept),
  );
}
