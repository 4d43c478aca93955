import { shellQuote } from '@tendon/protocol/executor-api';
import { createMarkerScanner, type Marker } from './terminal/marker-scanner.ts';
import type { Terminals } from '../processes/nest.ts';
import { openTerminal } from './open-terminal.ts';
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
  sleepsOf,
  terminalReadOf,
} from '../processes/process-tree.ts';
import { inputWaitOf, type InputWait } from './foreground/input-wait.ts';
import { createReportReader, type Report } from './report-reader.ts';
import { COLUMNS, ROWS } from './terminal/terminal-text.ts';
import { startTrailing } from './trailing-timer.ts';

/** One bash on a terminal of its own, as a source of events. Owns the process and the terminal; knows nothing of commands. */
export interface ShellProcess {
  /** As if at the keyboard. */
  type(text: string): void;
  /**
   * Each line with Enter: as a keyboard sends it, which a terminal makes a line feed of for who reads lines; the shell's own
   * `read` gets the line feed, also in a terminal that a program has left raw.
   */
  typeLines(text: string): void;
  /** Fields for the private line. */
  send(...fields: readonly string[]): void;
  /** Signals the process group that has the terminal; the shell itself never. */
  signal(signal: NodeJS.Signals): void;
  /** How what has the terminal waits for input from it, and how long that has worked so far, in ticks of the clock. */
  inputWait(): { readonly wait: InputWait | undefined; readonly ticks: number };
  /** Whether what has the terminal is another bash at its prompt: inside ours, or in its place (`exec bash`). */
  hasInnerPrompt(): boolean;
  /** Which read of the terminal the shell itself sleeps in. */
  ownRead(): string | undefined;
  /** How often it has gone to sleep so far: the same number = it has done nothing since. */
  sleeps(): number | undefined;
  /** Where the shell itself is. */
  folder(): string | undefined;
  /** Lets the shell itself go on, if a signal has stopped it. */
  resume(): void;
  /** Itself, and what it was started through, in the executor's numbering. */
  processes(): readonly number[];
  /** Ends it with everything in its session. */
  kill(): void;
}

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
}

/** How long output may trail the death of the shell. */
const TRAIL_MS = 50;

export function startShell(options: ShellOptions, isOurs: (id: string) => boolean, events: ShellEvents): ShellProcess {
  const {
    master,
    line,
    process: child,
    device,
  } = openTerminal({
    command: [options.shell, '--norc', '--noprofile', OURS, '-i'],
    enter: options.enter,
    terminals: options.terminals,
    setsid: options.setsid,
    env: { ...options.env, PROMPT_COMMAND: `. ${shellQuote(options.script)}` },
    cwd: '/',
    columns: COLUMNS,
    rows: ROWS,
    onOutput,
  });
  const scanner = createMarkerScanner(isOurs);
  const reports = createReportReader(events.onReport);
  let isGone = false;
  let pid: number | undefined;

  master.on('error', () => {}); // EIO: the other side is gone; `exit` tells
  line.on('data', (data: Buffer) => !isGone && reports.push(data));
  line.on('error', () => {});
  child.on('error', (error) => gone(127, error.message));
  child.on('exit', (code, signal) => {
    const exitCode = code ?? 128 + (SIGNAL_NUMBERS[signal ?? ''] ?? 0);
    events.onExit();
    startTrailing(TRAIL_MS, () => gone(exitCode, `the shell ended with exit code ${exitCode}`));
  });

  function onOutput(data: Buffer): void {
    for (const item of isGone ? [] : scanner.push(data)) {
      if ('bytes' in item) events.onOutput(item.bytes);
      else events.onMarker(item.marker, item.id);
    }
  }
  function gone(exitCode: number, reason: string): void {
    if (isGone) return;
    const rest = scanner.flush();
    if (rest.length > 0) events.onOutput(rest);
    isGone = true;
    kill(); // where only what stood before it died
    master.destroy();
    line.destroy();
    events.onGone(exitCode, reason);
  }

  /** In the executor's own numbering; its own child, or the child of what entered the namespace. */
  function shellPid(): number | undefined {
    if (child.pid !== undefined) pid ??= options.enter.length > 0 ? childOf(child.pid) : child.pid;
    return pid;
  }
  function foreground(): { readonly group: number; readonly isShell: boolean } | undefined {
    const shell = shellPid();
    const stat = shell === undefined ? undefined : processStat(shell);
    return stat && stat.foreground > 1 ? { group: stat.foreground, isShell: stat.foreground === stat.group } : undefined;
  }
  function kill(): void {
    const shell = shellPid();
    // What only entered the namespace ends with its child, and reaps it.
    if (shell !== undefined && processStat(shell)?.session === shell) killSession(shell);
    else if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }

  return {
    type: (text) => void (isGone || master.write(text)),
    send: (...fields) => void (isGone || line.write(fields.map((field) => `${field.replaceAll('\0', '')}\0`).join(''))),
    typeLines(text) {
      const lines = `${text}\n`;
      if (!isGone) master.write(foreground()?.isShell === false ? lines.replaceAll('\n', '\r') : lines);
    },
    signal(signal) {
      const found = foreground();
      if (found && !found.isShell) signalGroup(found.group, signal);
    },
    inputWait() {
      const found = foreground();
      const members = found === undefined ? [] : membersOf(found.group);
      const ticks = members.reduce((sum, member) => sum + (processStat(member)?.ticks ?? 0), 0);
      return { wait: inputWaitOf(members, device), ticks };
    },
    hasInnerPrompt() {
      const found = foreground();
      return found !== undefined && isShellAtPrompt(found.group, device);
    },
    ownRead() {
      const shell = shellPid();
      return shell === undefined ? undefined : terminalReadOf(shell, device);
    },
    sleeps() {
      const shell = shellPid();
      return shell === undefined ? undefined : sleepsOf(shell);
    },
    folder() {
      const shell = shellPid();
      return shell === undefined ? undefined : folderOf(shell);
    },
    resume() {
      const shell = shellPid();
      if (shell !== undefined && processStat(shell)?.state === 'T') signalProcess(shell, 'SIGCONT');
    },
    processes: () => [child.pid, shellPid()].filter((each) => each !== undefined),
    kill,
  };
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  ...{ SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGTERM: 15 },
};
