import { randomBytes } from 'node:crypto';
import { shellQuote } from '@tendon/protocol/executor-api';
import { begin, createRunning, receive, type Foreground, type Running, type ShellAfter } from './foreground/foreground.ts';
import type { Marker } from './terminal/marker-scanner.ts';
import type { Request } from '../action-handler.ts';
import type { Report } from './report-reader.ts';
import { startShell, type ShellOptions, type ShellProcess } from './shell-process.ts';
import { createShellWatch } from './shell-watch.ts';
import { giveSecrets } from './secret-variables.ts';
import { createTerminalText } from './terminal/terminal-text.ts';
import { startTrailing } from './trailing-timer.ts';

/**
 * One persistent bash. Owns what is known of it (folder, exported variables) and the command in its foreground; knows
 * nothing of actions and timeouts.
 *
 * 1. At most one command is in the foreground; it ends when its shell says so, never when an output ends.
 * 2. A shell that dies is replaced at once by one in the same folder with the same variables; the command that was running
 *    ends with it. One that cannot tell any more when a command ends is lost, and replaced too.
 * 3. Text between commands belongs to the next one: nothing that reached the terminal is lost.
 */
export interface Session {
  readonly current: Foreground | undefined;
  readonly place: Place;
  /** Resolves when a command can be started; rejects when no shell could be. */
  ready(): Promise<void>;
  /** Only when ready and nothing runs. */
  start(command: string, secrets?: Request['secrets']): Foreground;
  type(text: string): void;
  /** Each line with the Enter that its reader expects. */
  typeLines(text: string): void;
  /** Signals the process group that has the terminal; the shell itself never. */
  signal(signal: NodeJS.Signals): void;
  /** Whether what has the terminal waits for input from it, and how long that has worked so far, in ticks of the clock. */
  look(): { readonly awaitsInput: boolean; readonly ticks: number };
  /** Its folder, and what makes the next shell like this one; nothing while a command runs. */
  snapshot(): Promise<Left | undefined>;
  /** Its shell, in the executor's numbering. */
  processes(): readonly number[];
  /** The shell is lost: ends it with everything in its session, as if it had died. */
  kill(): void;
  close(): void;
}

/** What a shell leaves to the next one. */
export interface Left {
  readonly workingDir: string;
  /** Read by it at its start. */
  readonly shell: string;
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

/** Quoted words are no aliases. */
const TRIGGER = ' { \\__tendon_begin; } 2>/dev/null; \\builtin \\eval "$__tendon_command"; { \\__tendon_end $?; } 2>/dev/null\n';
/** As terminals repeat it: ours keeps line ends as they are, one that a command has reset does not. */
const ECHOES = [TRIGGER, TRIGGER.replace('\n', '\r\n')];
const START_DEADLINE_MS = 15_000;
const BEGIN_DEADLINE_MS = 30_000;
const SNAPSHOT_DEADLINE_MS = 5000;
const INNER_DEADLINE_MS = 2000;
const MAX_ROUNDS = 5;
/** How long the mark in the output may trail the report of the end, or come without it. */
const TRAIL_MS = 400;
const MAX_STARTS_IN_A_ROW = 3;

export interface SessionOptions extends ShellOptions {
  readonly workDir: string;
  readonly left?: Left;
  /** Of an observation. */
  readonly outputChars?: number;
  /** Whether the shell may be looked at now, and helped on. */
  readonly mayLook: () => boolean;
}

export function createSession(options: SessionOptions): Session {
  const nonce = randomBytes(8).toString('hex');
  const startId = `${nonce}-start`;
  const innerId = `${nonce}-inner`;
  /** Commands that became shells: when one of them ends, so has the inner shell that was in use. */
  const outerIds = new Set<string>();
  let place: Place = { workingDir: options.left?.workingDir ?? options.workDir, username: '', hostname: '', pid: -1, exports: '' };
  let restore = options.left?.shell ?? ''; // what the next shell starts with
  let between = createTerminalText(options.outputChars); // printed while nothing was in the foreground
  let shell: ShellProcess | undefined;
  let starting = unsettled();
  let isReady = false; // a command can be started
  let wasReady = false; // this shell could once
  let isClosed = false;
  let entering: 'asked' | 'refused' | undefined;
  let rounds = 0; // how often an inner shell was waited for
  let current: Running | undefined;
  let left: Left | undefined;
  let given: Request['secrets']; // to the newest command
  let commands = 0;
  let failedStarts = 0;
  let deadline: NodeJS.Timeout | undefined;
  let stopTrailing = (): void => {};
  const watch = createShellWatch(() => shell, { onQuiet: enterInnerShell, onLost: lose, mayLook: options.mayLook });
  open();

  function open(): void {
    wasReady = false;
    outerIds.clear();
    watch.forget();
    shell = startShell(options, (id) => id.startsWith(nonce), { onOutput, onMarker, onReport, onExit: notReady, onGone });
    shell.send(restore, place.workingDir, startId);
    expect(START_DEADLINE_MS, () => shell?.kill());
  }

  /** One deadline at a time: for the start, for taking a command up, for an inner shell. */
  function expect(ms: number, onMissed: () => void): void {
    clearTimeout(deadline);
    deadline = setTimeout(onMissed, ms);
  }

  /** What a shell says before its first prompt (a locale that the image names and does not have) is of no command. */
  function onOutput(bytes: Buffer): void {
    if (current) receive(current, bytes);
    else if (wasReady) between.write(bytes);
  }

  function onMarker(marker: Marker, id: string): void {
    if (id === startId) return becomeReady();
    if (id === innerId) return entered();
    if (!current || !concerns(current, id)) return;
    if (marker === 'begin') {
      clearTimeout(deadline);
      begin(current, ECHOES);
    } else {
      current.marked = marker;
      settle(current);
    }
  }

  function onReport(report: Report): void {
    if (report.kind === 'state') return void (left = { workingDir: report.workingDir, shell: report.state });
    remember(report);
    if (!current || !concerns(current, report.id)) return;
    // An inner shell tells its own exit code; then the outer one comes back and reports the command that had started it.
    current.report = current.report?.kind === 'exit' ? { ...report, code: current.report.code } : report;
    if (report.kind === 'end') settle(current);
  }

  function concerns(running: Running, id: string): boolean {
    return running.id === id || outerIds.has(id);
  }

  function remember(report: Report): void {
    if (report.kind !== 'end') {
      place = { ...place, workingDir: report.workingDir };
      restore = report.state;
      return;
    }
    const { workingDir, username, hostname, pid, exports } = report;
    place = { workingDir, username, hostname, pid, exports };
    restore = exports;
  }

  /** The report and the mark in the output come on two ways, in any order. One alone (the other way was closed) decides late. */
  function settle({ report, marked }: Running): void {
    stopTrailing();
    if (report && marked) finish(report.code, 'same');
    else stopTrailing = startTrailing(TRAIL_MS, report ? () => finish(report.code, 'same') : lose);
  }

  /** It does not tell any more when a command ends: only a new one will. What is known of it from outside, the new one gets. */
  function lose(): void {
    if (!shell || !current || entering === 'asked') return;
    place = { ...place, workingDir: shell.folder() ?? place.workingDir };
    current.after = current.phase === 'begun' ? 'broken' : 'deaf';
    notReady();
    shell.kill();
  }

  function notReady(): void {
    if (isReady) starting = unsettled();
    isReady = false;
  }

  function finish(exitCode: number, after: ShellAfter): void {
    stopTrailing();
    watch.stop();
    const ended = current;
    if (!ended) return;
    current = undefined;
    entering = undefined;
    ended.ended = { exitCode, shell: after };
    ended.onEnd?.();
  }

  function becomeReady(): void {
    clearTimeout(deadline);
    failedStarts = 0;
    isReady = true;
    wasReady = true;
    watch.stop();
    starting.resolve();
  }

  function onGone(exitCode: number, reason: string): void {
    clearTimeout(deadline);
    shell = undefined;
    notReady();
    if (!wasReady) {
      const wasGiven = restore !== '';
      restore = ''; // it may be what a shell cannot start with
      if (wasGiven && !isClosed && !current) return open();
      starting.reject(new Error(reason));
      starting = unsettled();
    }
    if (current) finishWithShell(current, exitCode);
    if (isClosed) return;
    failedStarts += 1;
    if (failedStarts > MAX_STARTS_IN_A_ROW) starting.reject(new Error(`no shell could be started: ${reason}`));
    else open();
  }

  function finishWithShell(running: Running, exitCode: number): void {
    const isDeaf = running.phase === 'typed' && entering === undefined;
    const { after = isDeaf ? 'deaf' : 'ended', report, marked } = running;
    if (running.phase === 'typed') begin(running, ECHOES);
    const told = report?.code ?? marked?.exitCode;
    finish(after === 'ended' ? exitCode || (told ?? exitCode) : (told ?? -1), after);
  }

  /** Where another bash waits at its prompt inside this one: commands go to it from now on, and the one that started it ends. */
  function enterInnerShell(): void {
    if (!shell || !current || entering || !shell.hasInnerPrompt()) return;
    // A shell that was made with them keeps them where nothing can be taken back: the next one begins without.
    if (given !== undefined) return shell.kill();
    entering = 'asked';
    rounds = 0;
    current.phase = 'typed';
    shell.send('', '', innerId);
    // Line editing ends only where a line that was typed ends it; it would prompt and echo in ways of its own.
    shell.type(` set +o emacs +o vi; . ${shellQuote(options.script)}\n`);
    expect(INNER_DEADLINE_MS, refused);
  }

  /** Another user's shell, which does not have our line: it is used as any program is. One that is at work may still come to it. */
  function refused(): void {
    if (shell && !shell.hasInnerPrompt() && entering === 'asked' && rounds++ < MAX_ROUNDS) return expect(INNER_DEADLINE_MS, refused);
    entering = 'refused';
    if (current) begin(current, []);
  }

  /** What was typed and prompted meanwhile is no output. */
  function entered(): void {
    if (entering !== 'asked' || !current) return;
    clearTimeout(deadline);
    current.text.dropLine();
    outerIds.add(current.id);
    watch.forget();
    finish(0, 'same');
  }

  function start(command: string, secrets?: Request['secrets']): Foreground {
    if (current || !shell) throw new Error('the shell is not ready');
    watch.learn(); // before it is typed: afterwards the shell may sit in a read of the command's
    commands += 1;
    current = createRunning(`${nonce}-${commands}`, command, between);
    between = createTerminalText(options.outputChars);
    given = secrets;
    shell.send(current.id, command, giveSecrets(secrets));
    shell.type(TRIGGER);
    expect(BEGIN_DEADLINE_MS, lose);
    watch.start(current);
    return current;
  }

  return {
    get current() {
      return current;
    },
    get place() {
      return place;
    },
    async ready() {
      if (failedStarts > MAX_STARTS_IN_A_ROW) {
        failedStarts = 0;
        starting = unsettled();
        open();
      }
      // One that the last command left without input ends where it would take the next.
      if (isReady) await watch.arrived();
      return starting.promise;
    },
    start,
    async snapshot() {
      if (current || !isReady || !shell) return undefined;
      left = undefined;
      const asked = start('__tendon_state');
      const ended = await new Promise<boolean>((resolve) => {
        asked.onEnd = () => resolve(true);
        setTimeout(() => resolve(asked.ended !== undefined), SNAPSHOT_DEADLINE_MS).unref();
      });
      between = asked.text;
      // An unset function, say: its folder and its exported variables are known in any case.
      return ended ? (left ?? { workingDir: place.workingDir, shell: place.exports }) : undefined;
    },
    processes: () => shell?.processes() ?? [],
    type: (text) => shell?.type(text),
    typeLines: (text) => shell?.typeLines(text),
    signal: (signal) => shell?.signal(signal),
    look() {
      const { wait, ticks } = shell?.inputWait() ?? { wait: undefined, ticks: 0 };
      const awaitsInput = wait === 'only' || (wait === 'too' && current?.text.isMidLine === true);
      return { awaitsInput: awaitsInput && !watch.isAtPrompt(), ticks };
    },
    kill: () => shell?.kill(),
    close() {
      isClosed = true;
      watch.stop();
      shell?.kill();
    },
  };
}

/** A promise to settle later, whose rejection need not be looked at. */
function unsettled(): PromiseWithResolvers<void> {
  const later = Promise.withResolvers<void>();
  later.promise.catch(() => {});
  return later;
}
