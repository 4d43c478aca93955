import type { ChildProcess } from 'node:child_process';
import { shellQuote, type ShellSize } from '@tendon/protocol/executor-api';
import { createMarkerScanner, type Marker, type MarkerScanner } from './terminal/marker-scanner.ts';
import type { Terminals } from '../processes/pid-namespace.ts';
import { openTerminal, type Terminal } from './open-terminal.ts';
import {
  childOf,
  folderOf,
  isShellAtPrompt,
  killSession,
  membersOf,
  OURS,
  processStat,
  signalGroup,
  signalProcess,
  voluntarySwitchesOf,
  terminalReadOf,
} from '../processes/process-tree.ts';
import { inputWaitOf, type InputWait } from './foreground/input-wait.ts';
import type { ReadingPace } from './terminal/reading-pace.ts';
import { createReportReader, type Report } from './report-reader.ts';
import { COLUMNS, ROWS } from './terminal/terminal-text.ts';
import { startTrailing } from './trailing-timer.ts';

export interface ShellEvents {
  onOutput(bytes: Buffer): void;
  onMarker(marker: Marker, id: string): void;
  onReport(report: Report): void;
  /** Its process has ended; the rest of its output may still come. */
  onExit(): void;
  /** Once, and nothing after it. */
  onGone(exitCode: number, reason: string): void;
}

export interface ShellOptions {
  readonly shell: string;
  /** `session.bash`. */
  readonly script: string;
  /** Put before the command, to enter a namespace. */
  readonly enter: readonly string[];
  readonly terminals?: Terminals | undefined;
  /** The program of that name. */
  readonly setsid: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pace: ReadingPace;
}

/** How long the terminal and the private line of a shell that has ended are read where another process holds them open. */
const TRAIL_MS = 1000;

/** One bash on a terminal of its own, as a source of events. Owns the process and the terminal; knows nothing of commands. */
export class ShellProcess {
  readonly #terminal: Terminal;
  readonly #child: ChildProcess;
  readonly #isNested: boolean;
  readonly #scanner: MarkerScanner;
  readonly #events: ShellEvents;
  #isGone = false;
  #pid: number | undefined;

  /** Of the marks in the output those are taken out that `isOurs` knows. */
  constructor(options: ShellOptions, isOurs: (id: string) => boolean, events: ShellEvents) {
    this.#events = events;
    this.#isNested = options.enter.length > 0;
    this.#scanner = createMarkerScanner(isOurs);
    this.#terminal = openTerminal({
      command: [options.shell, '--norc', '--noprofile', OURS, '-i'],
      enter: options.enter,
      terminals: options.terminals,
      setsid: options.setsid,
      env: { ...options.env, PROMPT_COMMAND: `. ${shellQuote(options.script)}` },
      columns: COLUMNS,
      rows: ROWS,
      pace: options.pace,
      onOutput: (data) => this.#onOutput(data),
    });
    this.#child = this.#terminal.process;
    this.#listen();
  }

  /** As if at the keyboard. */
  type(text: string): void {
    if (!this.#isGone) this.#terminal.input.type(text);
  }

  /**
   * Each line with Enter: as a keyboard sends it, which a terminal makes a line feed of for who reads lines; the shell's own
   * `read` gets the line feed, also in a terminal that a program has left raw.
   */
  typeLines(text: string): void {
    const lines = `${text}\n`;
    this.type(this.#foreground()?.isShell === false ? lines.replaceAll('\n', '\r') : lines);
  }

  /** Fields for the private line. */
  send(...fields: readonly string[]): void {
    if (!this.#isGone) this.#terminal.line.write(fields.map((field) => `${field.replaceAll('\0', '')}\0`).join(''));
  }

  resize(size: ShellSize): void {
    if (!this.#isGone) this.#terminal.resize(size);
  }

  /** Whether the shell itself has the terminal; unknown where there is none. */
  isForeground(): boolean | undefined {
    return this.#foreground()?.isShell;
  }

  /** A command begins, or has ended and the rest of its output is to come. */
  readAtOnce(): void {
    this.#terminal.reader.restart();
  }

  /** Signals the process group that has the terminal; the shell itself never. */
  signal(signal: NodeJS.Signals): void {
    const found = this.#foreground();
    if (found && !found.isShell) signalGroup(found.group, signal);
  }

  /** While something else has the terminal: when that has ended, however it has, the shell leaves the rest of its line. */
  leaveLine(): void {
    const shell = this.#shellPid();
    if (shell !== undefined && this.#foreground()?.isShell === false) signalProcess(shell, 'SIGINT');
  }

  /** How what has the terminal waits for input from it, and how long that has worked so far, in ticks of the clock. */
  inputWait(): { readonly wait: InputWait | undefined; readonly ticks: number } {
    const found = this.#foreground();
    const members = found === undefined ? [] : membersOf(found.group);
    const ticks = members.reduce((sum, member) => sum + (processStat(member)?.ticks ?? 0), 0);
    return { wait: inputWaitOf(members, this.#terminal.device), ticks };
  }

  /** Whether what has the terminal is another bash at its prompt: inside ours, or in its place (`exec bash`). */
  hasInnerPrompt(): boolean {
    const found = this.#foreground();
    return found !== undefined && isShellAtPrompt(found.group, this.#terminal.device);
  }

  /** Which read of the terminal the shell itself blocks in. */
  ownRead(): string | undefined {
    const shell = this.#shellPid();
    return shell === undefined ? undefined : terminalReadOf(shell, this.#terminal.device);
  }

  /** How often it has blocked so far: the same number = it has done nothing since. */
  voluntarySwitches(): number | undefined {
    const shell = this.#shellPid();
    return shell === undefined ? undefined : voluntarySwitchesOf(shell);
  }

  /** Where the shell itself is. */
  folder(): string | undefined {
    const shell = this.#shellPid();
    return shell === undefined ? undefined : folderOf(shell);
  }

  /** Lets the shell itself go on, if a signal has stopped it. */
  resume(): void {
    const shell = this.#shellPid();
    if (shell !== undefined && processStat(shell)?.state === 'T') signalProcess(shell, 'SIGCONT');
  }

  /** Itself, and what it was started through, in the executor's numbering. */
  processes(): readonly number[] {
    return [this.#child.pid, this.#shellPid()].filter((each) => each !== undefined);
  }

  /** Ends it with everything in its session. */
  kill(): void {
    const shell = this.#shellPid();
    // What only entered the namespace ends with its child, and reaps it.
    if (shell !== undefined && processStat(shell)?.session === shell) killSession(shell);
    else if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
  }

  #listen(): void {
    const { master, line } = this.#terminal;
    const reports = createReportReader((report) => this.#events.onReport(report));
    master.on('error', () => {}); // EIO: the other side is gone; `exit` follows
    line.on('data', (data: Buffer) => !this.#isGone && reports.push(data));
    line.on('error', () => {});
    this.#child.on('error', (error) => this.#gone(127, error.message));
    this.#child.on('exit', (code, signal) => {
      const exitCode = code ?? 128 + (SIGNAL_NUMBERS[signal ?? ''] ?? 0);
      this.#events.onExit();
      this.readAtOnce();
      this.#untilRead(() => this.#gone(exitCode, `the shell ended with exit code ${exitCode}`));
    });
  }

  /** Acts when everything has been read that the shell has left. */
  #untilRead(act: () => void): void {
    const { master, line } = this.#terminal;
    const stop = startTrailing(TRAIL_MS, act);
    const look = (): void => {
      if (!master.closed || !line.closed) return;
      stop();
      act();
    };
    for (const stream of [master, line]) stream.on('close', look);
    look();
  }

  #onOutput(data: Buffer): void {
    for (const item of this.#isGone ? [] : this.#scanner.push(data)) {
      if ('bytes' in item) this.#events.onOutput(item.bytes);
      else this.#events.onMarker(item.marker, item.id);
    }
  }

  #gone(exitCode: number, reason: string): void {
    if (this.#isGone) return;
    const rest = this.#scanner.flush();
    if (rest.length > 0) this.#events.onOutput(rest);
    this.#isGone = true;
    this.kill(); // where only what stood before it died
    this.#terminal.reader.close();
    this.#terminal.master.destroy();
    this.#terminal.line.destroy();
    this.#events.onGone(exitCode, reason);
  }

  /** In the executor's own numbering; its own child, or the child of what entered the namespace. */
  #shellPid(): number | undefined {
    if (this.#child.pid !== undefined) this.#pid ??= this.#isNested ? childOf(this.#child.pid) : this.#child.pid;
    return this.#pid;
  }

  #foreground(): { readonly group: number; readonly isShell: boolean } | undefined {
    const shell = this.#shellPid();
    const stat = shell === undefined ? undefined : processStat(shell);
    return stat && stat.foreground > 1 ? { group: stat.foreground, isShell: stat.foreground === stat.group } : undefined;
  }
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  ...{ SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGTERM: 15 },
};
