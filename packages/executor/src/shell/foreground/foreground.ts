import { createNewestBytes, type NewestBytes } from '../terminal/bounded-text.ts';
import type { StateReport } from '../report-reader.ts';
import type { TerminalText } from '../terminal/terminal-text.ts';

/** A command on the session's terminal, as those see it who wait for it. */
export interface ForegroundCommand {
  /** What was printed since the last take. */
  readonly text: TerminalText;
  ended: CommandEnd | undefined;
  /** Milliseconds of `performance.now()`. */
  lastOutputAt: number;
  /** Called with raw output as it comes; set by the caller that waits. */
  onOutput: ((bytes: Buffer) => void) | undefined;
  /** Output that came while nobody waited; the newest. */
  readonly unheard: NewestBytes;
  onEnd: (() => void) | undefined;
  /** Of the keys sent to it, whether Ctrl-C was among them. */
  interrupted: boolean;
  /** What was typed comes back first, if the terminal echoes it; it is no output. */
  expectEcho(text: string | undefined): void;
}

export interface CommandEnd {
  /** −1: not known. */
  readonly exitCode: number;
  readonly shell: ShellAfter;
}

/**
 * What became of the shell: it is the same; the command ended it; the command broke it, so that it had to be replaced; or it was
 * broken before and never took the command.
 */
export type ShellAfter = 'same' | 'ended' | 'broken' | 'deaf';

/** By what the shell says that a command is over. */
interface EndSigns {
  report: StateReport | undefined;
  /** The shell has written the mark. */
  isMarkSent: boolean;
  /** The mark in the output, where it ends. */
  marked: { readonly exitCode: number } | undefined;
}

/** What only the session sees of it. */
export interface RunningCommand extends ForegroundCommand, EndSigns {
  readonly id: string;
  readonly echo: EchoFilter;
  /** Given all of its output. */
  readonly onShown: (bytes: Buffer) => void;
  /** `typed`: handed to a shell that has not taken it up; what comes meanwhile is held back, its echo is in it. */
  phase: 'typed' | 'begun';
  readonly early: NewestBytes;
  /** Where its shell is being replaced. */
  after: ShellAfter | undefined;
}

const EARLY_BYTES = 65_536;
const UNHEARD_BYTES = 131_072;

export function createRunning(id: string, text: TerminalText, onShown: (bytes: Buffer) => void): RunningCommand {
  const echo = createEchoFilter();
  return {
    ...{ id, text, echo, onShown, expectEcho: echo.expect, lastOutputAt: performance.now(), phase: 'typed' },
    ...{ early: createNewestBytes(EARLY_BYTES), unheard: createNewestBytes(UNHEARD_BYTES) },
    ...{ report: undefined, isMarkSent: false, marked: undefined, after: undefined },
    ...{ ended: undefined, onOutput: undefined, onEnd: undefined, interrupted: false },
  };
}

/** Output as it came from the terminal; its memory is used again afterwards. */
export function receive(running: RunningCommand, bytes: Buffer): void {
  running.lastOutputAt = performance.now();
  if (running.phase === 'typed') running.early.push(bytes);
  else take(running, bytes);
}

/** From here on what comes is output; of what came early, all but the echo. */
export function begin(running: RunningCommand, echoes: readonly string[]): void {
  running.phase = 'begun';
  take(running, echoes.reduce(without, running.early.take()));
}

function without(bytes: Buffer, text: string): Buffer {
  const at = bytes.indexOf(text);
  return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + Buffer.byteLength(text))]);
}

function take(running: RunningCommand, bytes: Buffer): void {
  const output = running.echo.strip(bytes);
  if (output.length === 0) return;
  running.text.write(output);
  running.onShown(output);
  if (running.onOutput) running.onOutput(output);
  else running.unheard.push(output);
}

/** From now on output goes there, after what nobody has heard. */
export function listen(running: ForegroundCommand, onOutput: (bytes: Buffer) => void): void {
  const unheard = running.unheard.take();
  if (unheard.length > 0) onOutput(unheard);
  running.onOutput = onOutput;
}

export function untilEnded(running: ForegroundCommand, waitMs: number): Promise<void> {
  if (running.ended) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    running.onEnd = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

export interface EchoFilter {
  /** The terminal will repeat this line, if it echoes. */
  expect(text: string | undefined): void;
  strip(output: Buffer): Buffer;
}

const MAX_ECHO = 4096;
const NOTHING = Buffer.alloc(0);
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * Takes the echo of typed input out of the output that follows it: as far as the output agrees with it, from its first
 * byte on. A program that does not echo (a password, a full-screen editor) loses nothing.
 * @internal
 */
export function createEchoFilter(): EchoFilter {
  let rest: Buffer = NOTHING;
  return {
    expect(text) {
      rest = text === undefined || text.length > MAX_ECHO ? NOTHING : Buffer.from(`${text}\n`);
    },
    strip(output) {
      if (rest.length === 0) return output;
      let count = 0;
      let agreed = 0;
      for (; count < output.length && agreed < rest.length; count += 1) {
        if (output[count] === rest[agreed]) agreed += 1;
        else if (output[count] !== CARRIAGE_RETURN || rest[agreed] !== LINE_FEED) break; // a terminal may end lines in either way
      }
      rest = count < output.length ? NOTHING : rest.subarray(agreed);
      return output.subarray(count);
    },
  };
}
