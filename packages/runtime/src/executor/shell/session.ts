import { randomBytes } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { createEchoFilter, type EchoFilter } from './echo-filter.ts';
import { createMarkerScanner } from './marker-scanner.ts';
import { openTerminal, type Terminal } from './open-terminal.ts';
import { childOf, isShellAtPrompt, killSession, membersOf, processStat, readsTerminal, signalGroup } from './process-tree.ts';
import { createReportReader, type Report } from './report-reader.ts';
import { createTerminalText, type TerminalText } from './terminal-text.ts';

/**
 * One persistent bash on a terminal. Owns its process, its terminal and what is known of it (folder, exported variables);
 * knows nothing of actions and timeouts.
 *
 * 1. At most one command is in the foreground; it ends when its shell says so, never when an output ends.
 * 2. A shell that dies is replaced at once by one in the same folder with the same variables; the command that was running
 *    ends with `shellEnded`.
 * 3. Text between commands belongs to the next one: nothing that reached the terminal is lost.
 */
export interface Session {
  readonly current: Foreground | undefined;
  readonly place: Place;
  /** Resolves when a command can be started; rejects when no shell could be. */
  ready(): Promise<void>;
  /** Only when ready and nothing runs. */
  start(command: string): Foreground;
  type(text: string): void;
  /** Signals the process group that has the terminal; the shell itself never. */
  signal(signal: NodeJS.Signals): void;
  /** Whether what has the terminal is asleep waiting for input from it. */
  awaitsInput(): boolean;
  /** Where another bash waits at its prompt inside this one: commands go to it from now on, and the one that started it ends. */
  enterInnerShell(): void;
  /** The shell is lost: ends it with everything in its session, as if it had died. */
  kill(): void;
  close(): void;
}

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
  readonly exitCode: number;
  readonly shellEnded: boolean;
}

export interface Place {
  readonly workingDir: string;
  readonly username: string;
  readonly hostname: string;
  /** Of the last background job; −1 without one. */
  readonly pid: number;
  /** `declare -x` lines. */
  readonly exports: string;
}

export interface SessionOptions {
  readonly shell: string;
  readonly workDir: string;
  readonly script: string;
  readonly enter: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

interface Running extends Foreground {
  readonly id: string;
  readonly echo: EchoFilter;
  /** Typed, but its shell has not taken it up yet; or taken up. */
  phase: 'typed' | 'begun';
  report?: Report;
  isMarked: boolean;
}

const TRIGGER = ' { __tendon_begin; } 2>/dev/null; builtin eval "$__tendon_command"; { __tendon_end $?; } 2>/dev/null\n';
const ECHO = TRIGGER.replace('\n', '\r\n');
const START_DEADLINE_MS = 15_000;
const BEGIN_DEADLINE_MS = 30_000;
const INNER_DEADLINE_MS = 2000;
/** How long the end of the output may trail the report of the end, and the last output the death of the shell. */
const TRAIL_MS = 400;
const MAX_STARTS_IN_A_ROW = 3;

export function createSession(options: SessionOptions): Session {
  const nonce = randomBytes(8).toString('hex');
  const isOurs = (id: string): boolean => id.startsWith(nonce);
  const startId = `${nonce}-start`;
  const innerId = `${nonce}-inner`;
  /** Commands that became shells: when one of them ends, so has the inner shell that was in use. */
  const outerIds = new Set<string>();
  let place: Place = { workingDir: options.workDir, username: '', hostname: '', pid: -1, exports: '' };
  let restore = '';
  let between = createTerminalText(); // printed while nothing was in the foreground
  let terminal: Terminal | undefined;
  let shellPid: number | undefined;
  let current: Running | undefined;
  let preamble = '';
  let commands = 0;
  let failedStarts = 0;
  let isClosed = false;
  let isReady = false;
  let isEntering: 'inner' | 'refused' | undefined;
  let starting = Promise.withResolvers<void>();
  let trailing: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;
  starting.promise.catch(() => {});
  open();

  function open(): void {
    const opened = openTerminal({
      command: [options.shell, '--norc', '--noprofile', '--noediting', '-i'],
      enter: options.enter,
      env: { ...options.env, PROMPT_COMMAND: `. ${quoted(options.script)}` },
      cwd: '/',
      columns: options.columns ?? 1000,
      rows: options.rows ?? 1000,
    });
    terminal = opened;
    shellPid = undefined;
    isReady = false;
    outerIds.clear();
    const decoder = new StringDecoder('utf8');
    const scanner = createMarkerScanner(isOurs);
    const receive = (text: string): void => {
      for (const item of scanner.push(text)) {
        if ('text' in item) onText(item.text);
        else onMarker(item.marker, item.id);
      }
    };
    const reader = createReportReader(onReport);
    opened.master.on('data', (data: Buffer) => terminal === opened && receive(decoder.write(data)));
    opened.master.on('error', () => {}); // EIO: the other side is gone; `exit` tells
    opened.line.on('data', (data: Buffer) => terminal === opened && reader.push(data));
    opened.line.on('error', () => {});
    opened.line.write(`${restore}\0${place.workingDir}\0${startId}\0`);
    opened.process.on('error', (error) => onGone(opened, scanner.flush, 127, error.message));
    opened.process.on('exit', (code, signal) => {
      const exitCode = code ?? 128 + signalNumber(signal);
      setTimeout(() => onGone(opened, scanner.flush, exitCode, `the shell ended with exit code ${exitCode}`), TRAIL_MS / 8);
    });
    clearTimeout(deadline);
    deadline = setTimeout(kill, START_DEADLINE_MS);
  }

  function onText(text: string): void {
    if (!current) return between.write(text);
    if (current.phase === 'typed') {
      preamble += text;
      if (preamble.length > 65_536) preamble = preamble.slice(-32_768);
      return;
    }
    deliver(text);
  }

  function deliver(text: string): void {
    if (!current || text === '') return;
    current.lastOutputAt = performance.now();
    text = current.echo.strip(text);
    if (text === '') return;
    current.text.write(text);
    current.onOutput?.(text);
  }

  function onMarker(marker: 'begin' | 'end', id: string): void {
    if (id === startId) return void (marker === 'end' && becomeReady());
    if (id === innerId) return entered();
    if (!current || (current.id !== id && !outerIds.has(id))) return;
    if (marker === 'begin') {
      clearTimeout(deadline);
      current.phase = 'begun';
      deliver(preamble.replace(ECHO, ''));
      preamble = '';
    } else {
      current.isMarked = true;
      settle(current);
    }
  }

  function onReport(report: Report): void {
    if (report.kind === 'end') {
      const { workingDir, username, hostname, pid, exports } = report;
      place = { workingDir, username, hostname, pid, exports };
      restore = exports;
    } else {
      place = { ...place, workingDir: report.workingDir };
      restore = report.state;
    }
    if (!current || (current.id !== report.id && !outerIds.has(report.id))) return;
    // An inner shell tells its own exit code; then the outer one comes back and reports the command that had started it.
    current.report = current.report?.kind === 'exit' ? { ...report, code: current.report.code } : report;
    if (report.kind === 'end') settle(current);
  }

  /** The report and the mark in the output come on two ways, in any order. One of them alone (the other way was closed) decides late. */
  function settle({ report, isMarked }: Running): void {
    clearTimeout(trailing);
    if (report && isMarked) finish(report.code, false);
    else trailing = setTimeout(() => finish(report?.code ?? -1, false), TRAIL_MS);
  }

  function becomeReady(): void {
    clearTimeout(deadline);
    failedStarts = 0;
    isReady = true;
    const pid = terminal?.process.pid;
    if (pid !== undefined) shellPid = options.enter.length > 0 ? childOf(pid) : pid;
    starting.resolve();
  }

  function finish(exitCode: number, shellEnded: boolean): void {
    clearTimeout(trailing);
    const ended = current;
    if (!ended) return;
    current = undefined;
    isEntering = undefined;
    ended.ended = { exitCode, shellEnded };
    ended.onEnd?.();
  }

  function onGone(gone: Terminal, flush: () => string, exitCode: number, reason: string): void {
    if (terminal !== gone) return;
    onText(flush());
    terminal = undefined;
    if (shellPid !== undefined && processStat(shellPid)?.session === shellPid) killSession(shellPid);
    if (!isReady) restore = ''; // it may be what a shell cannot start with
    gone.master.destroy();
    gone.line.destroy();
    clearTimeout(deadline);
    const settled = starting;
    starting = Promise.withResolvers<void>();
    starting.promise.catch(() => {});
    settled.reject(new Error(reason));
    if (current?.phase === 'typed') deliver(preamble.replace(ECHO, ''));
    preamble = '';
    finish(current?.report?.code ?? exitCode, true);
    if (isClosed) return;
    failedStarts += 1;
    if (failedStarts > MAX_STARTS_IN_A_ROW) starting.reject(new Error(`no shell could be started: ${reason}`));
    else open();
  }

  function kill(): void {
    if (!terminal) return;
    if (shellPid !== undefined && processStat(shellPid)?.session === shellPid) killSession(shellPid);
    terminal.process.kill('SIGKILL');
  }

  function enterInnerShell(): void {
    const group = foregroundGroup();
    if (!terminal || !current || isEntering || group === undefined || !isShellAtPrompt(group, terminal.device)) return;
    isEntering = 'inner';
    current.phase = 'typed';
    terminal.line.write(`\0\0${innerId}\0`);
    // Line editing ends only where a line that was typed ends it; it would prompt and echo in ways of its own.
    terminal.master.write(` set +o emacs +o vi; . ${quoted(options.script)}\n`);
    deadline = setTimeout(() => {
      isEntering = 'refused'; // another user's shell, which does not have our line: it is used as any program is
      if (current) current.phase = 'begun';
      deliver(preamble);
      preamble = '';
    }, INNER_DEADLINE_MS);
  }

  /** What was typed and prompted meanwhile is no output. */
  function entered(): void {
    if (isEntering !== 'inner' || !current) return;
    clearTimeout(deadline);
    isEntering = undefined;
    preamble = '';
    current.text.dropLine();
    outerIds.add(current.id);
    finish(0, false);
  }

  /** The process group that has the terminal; nothing when it is the shell itself. */
  function foregroundGroup(): number | undefined {
    const stat = shellPid === undefined ? undefined : processStat(shellPid);
    if (!stat || stat.foreground <= 1 || stat.foreground === stat.group) return undefined;
    return stat.foreground;
  }

  return {
    get current() {
      return current;
    },
    get place() {
      return place;
    },
    ready: () => {
      if (failedStarts > MAX_STARTS_IN_A_ROW) {
        failedStarts = 0;
        starting = Promise.withResolvers<void>();
        starting.promise.catch(() => {});
        open();
      }
      return starting.promise;
    },
    start(command) {
      if (current || !terminal) throw new Error('the shell is not ready');
      commands += 1;
      const text = between;
      between = createTerminalText();
      const id = `${nonce}-${commands}`;
      const echo = createEchoFilter();
      current = {
        ...{ command, id, text, phase: 'typed', ended: undefined, lastOutputAt: performance.now() },
        ...{ onOutput: undefined, onEnd: undefined, interrupted: false, isMarked: false, echo, expectEcho: echo.expect },
      };
      terminal.line.write(`${id}\0${command.replaceAll('\0', '')}\0`);
      terminal.master.write(TRIGGER);
      clearTimeout(deadline);
      deadline = setTimeout(kill, BEGIN_DEADLINE_MS);
      return current;
    },
    type: (text) => void terminal?.master.write(text),
    signal(signal) {
      const group = foregroundGroup();
      if (group !== undefined) signalGroup(group, signal);
    },
    awaitsInput() {
      const group = shellPid === undefined ? undefined : processStat(shellPid)?.foreground;
      const device = terminal?.device;
      return group !== undefined && device !== undefined && membersOf(group).some((pid) => readsTerminal(pid, device));
    },
    enterInnerShell,
    kill,
    close() {
      isClosed = true;
      kill();
    },
  };
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

function signalNumber(signal: NodeJS.Signals | null): number {
  return SIGNAL_NUMBERS[signal ?? ''] ?? 0;
}
