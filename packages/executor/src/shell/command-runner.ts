import { Mutex } from '@tendon/protocol/async';
import type { ObservationDraft } from '@tendon/protocol';
import { flagArgument, textArgument, type HandlerContext, type ActionRequest, errorObservation, reasonOf } from '../action-handler.ts';
import { waitFor, type Clocks, type WaitEnd } from '../wait-for.ts';
import * as hints from './hints.ts';
import { runObservation, type RunResult } from './run-observation.ts';
import { listen, untilEnded, type ForegroundCommand } from './foreground/foreground.ts';
import type { Session } from './session.ts';

export interface RunLimits {
  /** Without new output for so long, a command is handed back as still running. */
  readonly noOutputSeconds: number;
  /** Longest wait of an action that names no timeout and does not say `blocking`. */
  readonly defaultTimeoutSeconds: number;
  /** Below the workspace, read-only: the answer to a command that runs into one of them says why. */
  readonly readOnly: readonly string[];
}

const STAGES = [
  { signal: 'SIGINT', waitMs: 2000 },
  { signal: 'SIGTERM', waitMs: 2000 },
  { signal: 'SIGKILL', waitMs: 2000 },
] as const;

/** Hundredths of a second between two looks. */
const IDLE_TICKS = 2;

/**
 * The rules of `run` on the session: start, wait on, answer, interrupt. Actions that wait are taken one after the other;
 * input goes through at once, so that a waiting command can be answered or interrupted.
 */
export class CommandRunner {
  readonly #session: Session;
  readonly #limits: RunLimits;
  readonly #mutex = new Mutex();
  /** The newest command whose output was not taken to its end. */
  #last: ForegroundCommand | undefined;
  #waiting = 0;

  constructor(session: Session, limits: RunLimits) {
    this.#session = session;
    this.#limits = limits;
  }

  async run(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    const command = textArgument(request.args, 'command');
    if (command.trim() === '') return this.#enqueue(request, context, () => this.#poll(request, context));
    if (flagArgument(request.args, 'is_input')) return this.#input(request, context);
    return this.#enqueue(request, context, () => {
      const { current } = this.#session;
      return current ? this.#refuse(request, current) : this.#start(request, context);
    });
  }

  /** What a person left running when they gave the terminal back: it can be read and typed into as the agent's own. */
  adopt(running: ForegroundCommand): void {
    this.#last = running;
  }

  /** Output of a command that ended after its action had been answered. */
  #unseen(): string | undefined {
    if (!this.#last?.ended) return undefined;
    const text = this.#last.text.take().trimEnd();
    const { exitCode } = this.#last.ended;
    this.#last = undefined;
    return text === '' ? undefined : hints.unseenOutput(text, exitCode);
  }

  async #start(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    try {
      await this.#session.ready();
    } catch (error) {
      return errorObservation(`The shell could not be started: ${reasonOf(error)}`);
    }
    const prefix = this.#unseen();
    this.#last = this.#session.start(textArgument(request.args, 'command'), request.secrets);
    return this.#watch(this.#last, request, context, prefix);
  }

  async #watch(running: ForegroundCommand, request: ActionRequest, context: HandlerContext, prefix = ''): Promise<ObservationDraft> {
    const clocks = clocksOf(request, this.#limits);
    listen(running, context.output);
    const end = await waitFor(running, { ...clocks, signal: context.signal, isStuck: createInputLook(this.#session) });
    running.onOutput = undefined;
    const awaitsInput = (end === 'timeout' || end === 'quiet') && this.#session.look().awaitsInput;
    if (end === 'cancelled') await cancelForeground(this.#session, running);
    const content = running.text.take(context.outputPath()).trimEnd();
    const ended = running.ended;
    if (ended && this.#last === running) this.#last = undefined;
    return this.#say(request, {
      content,
      exitCode: ended?.exitCode ?? -1,
      prefix: ended && prefix === hints.PREVIOUS_OUTPUT ? '' : prefix,
      suffix: suffixOf(running, { end, awaitsInput }, clocks) + hints.ranInto(content, this.#limits.readOnly),
    });
  }

  #refuse(request: ActionRequest, running: ForegroundCommand): ObservationDraft {
    const content = running.text.take().trimEnd();
    const suffix = hints.notExecuted(textArgument(request.args, 'command'));
    return this.#say(request, { content, exitCode: -1, prefix: hints.PREVIOUS_OUTPUT, suffix });
  }

  #nothingRuns(request: ActionRequest, content: string): ObservationDraft {
    return this.#say(request, { content, exitCode: -1, prefix: this.#unseen() });
  }

  /** Waits for more of the running command; what it printed and how it ended if it has. */
  #poll(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> | ObservationDraft {
    if (!this.#last)
      return this.#nothingRuns(
        request,
        flagArgument(request.args, 'is_input') ? hints.NOTHING_TO_INTERACT_WITH : hints.NOTHING_TO_RETRIEVE,
      );
    return this.#watch(this.#last, request, context, hints.PREVIOUS_OUTPUT);
  }

  #input(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> | ObservationDraft {
    const running = this.#session.current;
    if (!running) return this.#nothingRuns(request, hints.NOTHING_TO_INTERACT_WITH);
    const text = textArgument(request.args, 'command');
    const key = keyFor(text);
    if (key === '\u0003') running.interrupted = true;
    running.expectEcho(key === undefined && !running.text.isFullScreen ? text : undefined);
    running.lastOutputAt = performance.now();
    if (key === undefined) running.text.typedLine();
    if (key === undefined) this.#session.typeLines(text);
    else this.#session.type(key);
    if (this.#waiting > 0) return this.#say(request, { content: '', exitCode: -1, suffix: hints.sentWhileWaiting });
    return this.#enqueue(request, context, () => this.#watch(running, request, context, hints.PREVIOUS_OUTPUT));
  }

  /** A cancelled action that had to wait for its turn does nothing any more. */
  #enqueue(
    request: ActionRequest,
    { signal }: HandlerContext,
    work: () => Promise<ObservationDraft> | ObservationDraft,
  ): Promise<ObservationDraft> {
    this.#waiting += 1;
    const take = (): Promise<ObservationDraft> | ObservationDraft =>
      signal.aborted ? this.#say(request, { content: '', exitCode: -1, suffix: hints.neverStarted }) : work();
    return this.#mutex.run(take).finally(() => (this.#waiting -= 1));
  }

  #say(request: ActionRequest, result: RunResult): ObservationDraft {
    return runObservation(request.args, result, this.#session.current ? undefined : this.#session.place);
  }
}

function clocksOf({ args, timeout }: ActionRequest, limits: RunLimits): Clocks {
  const given = typeof timeout === 'number' && timeout > 0 ? timeout : undefined;
  const patient = given !== undefined || flagArgument(args, 'blocking');
  const hard = given ?? (patient ? Infinity : limits.defaultTimeoutSeconds);
  return { quietMs: patient ? Infinity : limits.noOutputSeconds * 1000, hardMs: hard * 1000 };
}

function suffixOf(running: ForegroundCommand, { end, awaitsInput }: { end: WaitEnd; awaitsInput: boolean }, clocks: Clocks): string {
  const { ended, interrupted } = running;
  if (end === 'cancelled') return ended ? hints.cancelled(ended.exitCode, ended.shell !== 'same') : hints.couldNotCancel();
  if (ended?.shell === 'same') return hints.completed(ended.exitCode, interrupted);
  if (ended) return hints.SHELL_REPLACED[ended.shell](ended.exitCode);
  if (end === 'timeout') return hints.timedOut(clocks.hardMs / 1000, { interrupted, awaitsInput });
  if (end === 'stuck' || awaitsInput) return hints.waitsForInput();
  return hints.noNewOutput(clocks.quietMs / 1000, interrupted);
}

/** Interrupts, then terminates, then kills what has the terminal; at last the shell itself. Returns when the command has ended. */
export async function cancelForeground(session: Session, running: ForegroundCommand): Promise<void> {
  for (const { signal, waitMs } of STAGES) {
    if (running.ended) return;
    session.leaveLine();
    if (signal === 'SIGINT') session.type('\u0003');
    session.signal(signal);
    await untilEnded(running, waitMs);
  }
  if (running.ended) return;
  session.kill();
  await untilEnded(running, 2000);
}

/** Whether what has the terminal waits for input, from the second look on: one that works beside its wait will go on by itself. */
function createInputLook(session: Session): () => boolean {
  let ticks = Number.NaN;
  return () => {
    const look = session.look();
    const wasIdle = look.ticks - ticks <= IDLE_TICKS;
    ticks = look.ticks;
    return look.awaitsInput && wasIdle;
  };
}

const ESCAPE = '\u001b';

/** Names as people and programs write them, and what a terminal sends for them. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ Escape: ESCAPE, Esc: ESCAPE, Enter: '\r', Return: '\r', Tab: '\t', Backspace: '\u007f' },
  ...{ Up: `${ESCAPE}[A`, Down: `${ESCAPE}[B`, Right: `${ESCAPE}[C`, Left: `${ESCAPE}[D`, Home: `${ESCAPE}[H`, End: `${ESCAPE}[F` },
  ...{ Delete: `${ESCAPE}[3~`, PageUp: `${ESCAPE}[5~`, PageDown: `${ESCAPE}[6~` },
};

/**
 * The characters that a key sends: `C-c`, or its name (`Escape`, `Enter`, `Up`, …); nothing for ordinary text. A name that is
 * meant as text ends with a newline.
 * @internal
 */
export function keyFor(text: string): string | undefined {
  const letter = /^C-([a-zA-Z[\\\]^_])$/.exec(text.trim())?.[1];
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64);
  return Object.hasOwn(NAMED, text) ? NAMED[text] : undefined;
}
