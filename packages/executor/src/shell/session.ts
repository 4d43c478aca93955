import { setTimeout as delay } from 'node:timers/promises';
import { shellQuote, type ShellSize } from '@tendon/protocol/executor-api';
import type { ActionRequest } from '../action-handler.ts';
import {
  begin,
  createRunning,
  receive,
  untilEnded,
  type ForegroundCommand,
  type RunningCommand,
  type ShellAfter,
} from './foreground/foreground.ts';
import type { Marker } from './terminal/marker-scanner.ts';
import type { Report } from './report-reader.ts';
import { CommandIds, ECHOES, TRIGGER } from './command-frame.ts';
import { commandOf, endingOf, endWithShell, withoutCommand, type SessionState } from './session-state.ts';
import { ShellMemory, type Place, type ShellSnapshot } from './shell-memory.ts';
import { ShellProcess, type ShellOptions } from './shell-process.ts';
import { createShellWatch, type ShellWatch } from './shell-watch.ts';
import { giveSecrets } from './detached-process.ts';
import { SessionOutput } from './session-output.ts';
import { startTrailing } from './trailing-timer.ts';

const START_DEADLINE_MS = 15_000;
const BEGIN_DEADLINE_MS = 30_000;
const SNAPSHOT_DEADLINE_MS = 5000;
const INNER_DEADLINE_MS = 2000;
const MAX_ROUNDS = 5;
/** How long the mark in the output may trail the report of the end, or come without it. */
const TRAIL_MS = 400;
/** The same for a mark that the shell has written: the kernel hands a terminal's output on in its own time, and on a busy machine late. */
const SENT_TRAIL_MS = 20_000;
const MAX_STARTS_IN_A_ROW = 3;

/** How long a shell has to come to its prompt when a person gives it back. */
const RELEASE_DEADLINE_MS = 5000;
/** What has all but ended then. */
const LOOKS_AT_END = 10;
const LOOK_EVERY_MS = 50;

export interface SessionOptions extends ShellOptions {
  readonly from: ShellSnapshot;
  /** Of an observation. */
  readonly outputChars?: number;
  /** Whether the shell may be looked at now, and helped on. */
  readonly mayLook: () => boolean;
}

/**
 * One persistent bash. Owns what is known of it (folder, exported variables) and the command in its foreground; knows
 * nothing of actions and timeouts.
 *
 * 1. At most one command is in the foreground; it ends when its shell says so, never when an output ends.
 * 2. A shell that dies is replaced at once by one in the same folder with the same variables; the command that was running
 *    ends with it. One that cannot report any more when a command ends is lost, and replaced too.
 * 3. Text between commands belongs to the next one: nothing that reached the terminal is lost.
 * 4. While a person holds the terminal, the shell has a prompt, and all that they run is one command in the foreground, which ends at a
 *    prompt once they have released it.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #ids = new CommandIds();
  readonly #memory: ShellMemory;
  readonly #watch: ShellWatch;
  #state: SessionState = { kind: 'starting' };
  #shell: ShellProcess | undefined;
  /** Settles when a command can be started, or when no shell could be. */
  #starting = unsettled();
  #isClosed = false;
  #failedStarts = 0;
  #deadline: NodeJS.Timeout | undefined;
  #stopTrailing = (): void => {};
  readonly #output: SessionOutput;
  /** A person has the terminal. `command`: what they do, since the shell has its prompt. */
  #hold: { command: RunningCommand | undefined } | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#memory = new ShellMemory(options.from);
    this.#output = new SessionOutput(options.outputChars);
    this.#watch = createShellWatch(() => this.#shell, {
      onQuiet: () => this.#enterInnerShell(),
      onLost: () => this.#lose(),
      mayLook: () => this.#hold === undefined && options.mayLook(),
    });
    this.#open();
  }

  get current(): ForegroundCommand | undefined {
    return this.#command;
  }

  get place(): Place {
    return this.#memory.place;
  }

  /** Resolves when a command can be started; rejects when no shell could be. */
  async ready(): Promise<void> {
    if (this.#state.kind === 'dead') {
      this.#failedStarts = 0;
      this.#starting = unsettled();
      this.#open();
    }
    await this.#starting.promise;
    // One that the last command left without input ends where it would take the next; a new one is seen at its prompt once.
    await this.#watch.arrived();
    return this.#starting.promise;
  }

  /** Only when ready and nothing runs. */
  start(text: string, secrets?: ActionRequest['secrets']): ForegroundCommand {
    const shell = this.#shell;
    if (this.#state.kind !== 'ready' || !shell) throw new Error('the shell is not ready');
    this.#watch.learn(); // before it is typed: afterwards the shell may sit in a read of the command's
    const command = createRunning(this.#ids.next(), this.#output.forNext(), this.#output.show);
    this.#state = { kind: 'running', command, hasSecrets: secrets !== undefined, isInnerRefused: false };
    shell.readAtOnce();
    shell.send(command.id, text, giveSecrets(secrets));
    shell.type(TRIGGER);
    this.#expect(BEGIN_DEADLINE_MS, () => this.#lose());
    this.#watch.start(command);
    return command;
  }

  /** A person has the terminal until `release`: all of its output goes there, too. */
  hold(onOutput: (bytes: Buffer) => void): void {
    this.#hold = { command: undefined };
    this.#output.onShown = onOutput;
    this.#prompt();
  }

  /** Resolves when the shell takes commands again, or with what the person left running in it. */
  async release(): Promise<ForegroundCommand | undefined> {
    const command = this.#hold?.command;
    for (let looks = 0; looks < LOOKS_AT_END && this.#shell?.isForeground() === false; looks += 1) await delay(LOOK_EVERY_MS);
    this.#hold = undefined;
    this.#output.onShown = undefined;
    if (!command || command !== this.#command) return undefined;
    Object.assign(command, { report: undefined, marked: undefined, isMarkSent: false });
    if (this.#shell?.isForeground() === false) return command;
    // Whatever was begun and not entered is no command.
    this.#shell?.type('\u0003');
    await untilEnded(command, RELEASE_DEADLINE_MS);
    return command.ended ? undefined : command;
  }

  /** The newest output. */
  readonly recent = (): Buffer => this.#output.recent();

  readonly resize = (size: ShellSize): void => this.#shell?.resize(size);
  readonly type = (text: string): void => this.#shell?.type(text);

  /** Each line with the Enter that its reader expects. */
  typeLines(text: string): void {
    this.#shell?.typeLines(text);
  }

  /** Signals the process group that has the terminal; the shell itself never. */
  signal(signal: NodeJS.Signals): void {
    this.#shell?.signal(signal);
  }

  /** What is left of the command's line does not run when what has the terminal has ended. */
  leaveLine(): void {
    this.#shell?.leaveLine();
  }

  /** Whether what has the terminal waits for input from it, and how long that has worked so far, in ticks of the clock. */
  look(): { readonly awaitsInput: boolean; readonly ticks: number } {
    const { wait, ticks } = this.#shell?.inputWait() ?? { wait: undefined, ticks: 0 };
    const awaitsInput = wait === 'only' || (wait === 'too' && this.#command?.text.isMidLine === true);
    return { awaitsInput: awaitsInput && !this.#watch.isAtPrompt(), ticks };
  }

  /** Its folder, and what makes the next shell like this one; nothing while a command runs. */
  async snapshot(): Promise<ShellSnapshot | undefined> {
    if (this.#state.kind !== 'ready') return undefined;
    this.#memory.forgetSnapshot();
    const asked = this.start('__tendon_state');
    await new Promise<void>((resolve) => {
      asked.onEnd = resolve;
      setTimeout(resolve, SNAPSHOT_DEADLINE_MS).unref();
    });
    this.#output.putBack(asked.text);
    return asked.ended === undefined ? undefined : this.#memory.snapshot;
  }

  /** Its shell, in the executor's numbering. */
  processes(): readonly number[] {
    return this.#shell?.processes() ?? [];
  }

  /** The shell is lost: ends it with everything in its session, as if it had died. */
  kill(): void {
    this.#shell?.kill();
  }

  close(): void {
    this.#isClosed = true;
    this.#watch.stop();
    this.#shell?.kill();
  }

  get #command(): RunningCommand | undefined {
    return commandOf(this.#state);
  }

  #open(): void {
    this.#state = { kind: 'starting' };
    this.#ids.forgetShells();
    this.#watch.forget();
    this.#shell = new ShellProcess(this.#options, (id) => this.#ids.isOurs(id), {
      onOutput: (bytes) => this.#onOutput(bytes),
      onMarker: (marker, id) => this.#onMarker(marker, id),
      onReport: (report) => this.#onReport(report),
      onExit: () => this.#markEnding(),
      onGone: (exitCode, reason) => this.#onGone(exitCode, reason),
    });
    this.#shell.send(this.#memory.restore, this.#memory.place.workingDir, this.#ids.start);
    this.#expect(START_DEADLINE_MS, () => this.#shell?.kill());
  }

  /** One deadline at a time: for the start, for taking a command up, for an inner shell. */
  #expect(ms: number, onMissed: () => void): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(onMissed, ms);
  }

  /** What a shell says before its first prompt (a locale that the image names and does not have) is of no command. */
  #onOutput(bytes: Buffer): void {
    const command = this.#command;
    if (command) receive(command, bytes);
    else if (this.#state.kind !== 'starting') this.#output.between(bytes);
  }

  /** Where a person holds the terminal: the shell takes what they type, with a prompt. */
  #prompt(): void {
    if (!this.#hold || this.#state.kind !== 'ready') return;
    this.#hold.command = this.start('__tendon_hold') as RunningCommand;
    this.#output.hasPrompt = true;
  }

  #onMarker(marker: Marker, id: string): void {
    if (id === this.#ids.start) return this.#becomeReady();
    if (id === this.#ids.inner) return this.#entered();
    const command = this.#command;
    if (!command || !this.#ids.concerns(command.id, id)) return;
    if (marker === 'begin') {
      clearTimeout(this.#deadline);
      begin(command, ECHOES);
    } else {
      command.marked = marker;
      if (command !== this.#hold?.command) this.#settle(command);
    }
  }

  #onReport(report: Report): void {
    if (report.kind === 'marked') return this.#onMarkSent(report.id);
    this.#memory.learn(report);
    const command = this.#command;
    if (report.kind === 'state' || !command || !this.#ids.concerns(command.id, report.id)) return;
    // An inner shell reports its own exit code; then the outer one comes back and reports the command that had started it.
    command.report = command.report?.kind === 'exit' ? { ...report, code: command.report.code } : report;
    if (report.kind !== 'end' || command === this.#hold?.command) return;
    this.#shell?.readAtOnce();
    this.#settle(command);
  }

  /** The shell is at its prompt, and not lost: what is missing is on its way. */
  #onMarkSent(id: string): void {
    const command = this.#command;
    if (
      !command ||
      command === this.#hold?.command ||
      command.marked ||
      command.report?.kind !== 'end' ||
      !this.#ids.concerns(command.id, id)
    )
      return;
    command.isMarkSent = true;
    this.#watch.stop();
    this.#settle(command);
  }

  #becomeReady(): void {
    if (this.#state.kind !== 'starting') return;
    clearTimeout(this.#deadline);
    this.#failedStarts = 0;
    this.#state = { kind: 'ready' };
    this.#watch.stop();
    this.#starting.resolve();
    this.#prompt();
  }

  /** The report and the mark in the output come on two ways, in any order. One alone (the other way was closed) decides late. */
  #settle({ report, marked, isMarkSent }: RunningCommand): void {
    this.#stopTrailing();
    if (report && marked) return this.#finish(report.code, 'same');
    const trailMs = isMarkSent ? SENT_TRAIL_MS : TRAIL_MS;
    this.#stopTrailing = startTrailing(trailMs, report ? () => this.#finish(report.code, 'same') : () => this.#lose());
  }

  #finish(exitCode: number, after: ShellAfter): void {
    this.#stopTrailing();
    this.#watch.stop();
    const ended = this.#command;
    if (!ended) return;
    this.#state = withoutCommand(this.#state);
    ended.ended = { exitCode, shell: after };
    ended.onEnd?.();
    // After those who waited for it.
    if (this.#hold) setImmediate(() => this.#prompt());
  }

  /** It does not report any more when a command ends: only a new one will. The new one gets what is known of it from outside. */
  #lose(): void {
    const [shell, state, command] = [this.#shell, this.#state, this.#command];
    if (!shell || !command || state.kind === 'entering-inner' || (state.kind === 'ending' && state.wasEntering)) return;
    this.#memory.moveTo(shell.folder() ?? this.place.workingDir);
    command.after = command.phase === 'begun' ? 'broken' : 'deaf';
    this.#markEnding();
    shell.kill();
  }

  /** No command can be started until there is another shell. */
  #markEnding(): void {
    const ending = endingOf(this.#state);
    if (ending === undefined) return;
    this.#state = ending;
    this.#starting = unsettled();
  }

  #onGone(exitCode: number, reason: string): void {
    clearTimeout(this.#deadline);
    this.#shell = undefined;
    if (this.#state.kind === 'starting') {
      // What it was given may be what a shell cannot start with.
      if (this.#memory.forgetVariables() && !this.#isClosed) return this.#open();
      this.#starting.reject(new Error(reason));
      this.#starting = unsettled();
    }
    this.#markEnding();
    if (this.#state.kind === 'ending' && this.#state.command) {
      const { command, wasEntering } = this.#state;
      const { exitCode: code, shell } = endWithShell(command, wasEntering, exitCode);
      if (command.phase === 'typed') begin(command, ECHOES);
      this.#finish(code, shell);
    }
    if (this.#isClosed) return;
    this.#failedStarts += 1;
    if (this.#failedStarts <= MAX_STARTS_IN_A_ROW) return this.#open();
    this.#state = { kind: 'dead' };
    this.#starting.reject(new Error(`no shell could be started: ${reason}`));
  }

  /** Where another bash waits at its prompt inside this one: commands go to it from now on, and the one that started it ends. */
  #enterInnerShell(): void {
    const [shell, state] = [this.#shell, this.#state];
    if (!shell || state.kind !== 'running' || state.isInnerRefused || !shell.hasInnerPrompt()) return;
    // A shell that was made with them keeps them where nothing can be taken back: the next one begins without.
    if (state.hasSecrets) return shell.kill();
    state.command.phase = 'typed';
    this.#state = { kind: 'entering-inner', command: state.command, rounds: 0 };
    shell.send('', '', this.#ids.inner);
    // Line editing ends only where a line that was typed ends it; it would prompt and echo in ways of its own.
    shell.type(` set +o emacs +o vi; . ${shellQuote(this.#options.script)}\n`);
    this.#expect(INNER_DEADLINE_MS, () => this.#innerMissed());
  }

  /** Another user's shell, which does not have our line: it is used as any program is. One that is at work may still come to it. */
  #innerMissed(): void {
    const state = this.#state;
    if (state.kind !== 'entering-inner') return;
    if (this.#shell?.hasInnerPrompt() === false && state.rounds < MAX_ROUNDS) {
      this.#state = { ...state, rounds: state.rounds + 1 };
      return this.#expect(INNER_DEADLINE_MS, () => this.#innerMissed());
    }
    this.#state = { kind: 'running', command: state.command, hasSecrets: false, isInnerRefused: true };
    begin(state.command, []);
  }

  /** What was typed and prompted meanwhile is no output. */
  #entered(): void {
    if (this.#state.kind !== 'entering-inner') return;
    const { command } = this.#state;
    clearTimeout(this.#deadline);
    command.text.dropLine();
    this.#ids.becameShell(command.id);
    this.#watch.forget();
    this.#finish(0, 'same');
  }
}

/** A promise to settle later, whose rejection need not be looked at. */
function unsettled(): PromiseWithResolvers<void> {
  const later = Promise.withResolvers<void>();
  later.promise.catch(() => {});
  return later;
}
