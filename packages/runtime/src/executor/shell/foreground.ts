import { StringDecoder } from 'node:string_decoder';
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
  onOutput: ((bytes: Buffer) => void) | undefined;
  /** Output that came while nobody waited; the newest. */
  readonly unheard: Buffer[];
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
  readonly decoder: StringDecoder;
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
const MAX_UNHEARD = 262_144;

export function createRunning(id: string, command: string, text: TerminalText): Running {
  const echo = createEchoFilter();
  return {
    ...{ id, command, text, echo, expectEcho: echo.expect, lastOutputAt: performance.now(), decoder: new StringDecoder('utf8') },
    ...{ phase: 'typed', kept: '', report: undefined, marked: undefined, after: undefined, unheard: [] },
    ...{ ended: undefined, onOutput: undefined, onEnd: undefined, interrupted: false },
  };
}

/** Output as it came from the terminal. */
export function receive(running: Running, bytes: Buffer): void {
  running.lastOutputAt = performance.now();
  const text = running.decoder.write(bytes);
  if (running.phase === 'typed') running.kept = (running.kept + text).slice(-MAX_KEPT);
  else take(running, text, bytes);
}

/** From here on what comes is output; of what was kept, all but the echo. */
export function begin(running: Running, echoes: readonly string[]): void {
  const { kept } = running;
  running.phase = 'begun';
  running.kept = '';
  take(
    running,
    echoes.reduce((text, echo) => text.replace(echo, ''), kept),
  );
}

function take(running: Running, text: string, bytes?: Buffer): void {
  const output = running.echo.strip(text);
  running.text.write(output);
  const raw = bytes !== undefined && output.length === text.length ? bytes : Buffer.from(output);
  if (raw.length === 0) return;
  if (running.onOutput) return running.onOutput(raw);
  running.unheard.push(Buffer.from(raw));
  while (running.unheard.length > 1 && sizeOf(running.unheard) > MAX_UNHEARD) running.unheard.shift();
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((size, piece) => size + piece.length, 0);
}

/** From now on output goes there, after what nobody has heard. */
export function listen(running: Foreground, onOutput: (bytes: Buffer) => void): void {
  for (const piece of running.unheard.splice(0)) onOutput(piece);
  running.onOutput = onOutput;
}
