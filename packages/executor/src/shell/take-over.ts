import { setTimeout as delay } from 'node:timers/promises';
import { StringDecoder } from 'node:string_decoder';
import { errorObservation, reasonOf, type ActionHandler, type HandlerContext } from '../action-handler.ts';
import { cancelForeground, type CommandRunner } from './command-runner.ts';
import * as hints from './hints.ts';
import type { OwnShell, OwnShellOptions } from './own-shell.ts';
import { runObservation } from './run-observation.ts';
import type { Session } from './session.ts';
import { createNewestBytes } from './terminal/bounded-text.ts';
import { COLUMNS, ROWS, TerminalText } from './terminal/terminal-text.ts';

/** How a person's page is connected to the agent's terminal; one at a time. `close` only leaves. */
export interface AgentShell extends OwnShell {
  giveBack(): void;
}

export interface TakeOverOptions {
  /** Of what the model reads. */
  readonly outputChars?: number | undefined;
  /** How long it lasts without a page. */
  readonly graceSeconds?: number | undefined;
}

type End = 'given back' | 'left' | 'cancelled';

interface Hold {
  /** What the terminal showed, for the log. */
  readonly text: TerminalText;
  readonly over: PromiseWithResolvers<End>;
  hasBegun: boolean;
  viewer: Viewer | undefined;
  grace: NodeJS.Timeout | undefined;
}

interface Viewer {
  show(bytes: Buffer): void;
  end(reason: string): void;
}

const GRACE_SECONDS = 20;
const BEGIN_MS = 10_000;
const LOOK_EVERY_MS = 50;
/** Of what a page is shown that does not keep up. */
const NEWEST_BYTES = 64 * 1024;

/**
 * A person at the agent's own terminal, as an action: it begins when the action does, and its outcome is what the terminal showed.
 *
 * 1. Nothing else starts in the shell meanwhile; what runs in it goes on.
 * 2. It ends when the person gives the terminal back, when no page has been connected for a while, or when the action is cancelled.
 * 3. The page that came last has the terminal; another one is sent away with the reason.
 */
export class TakeOver {
  readonly #session: Session;
  readonly #runner: CommandRunner;
  readonly #options: TakeOverOptions;
  #hold: Hold | undefined;

  constructor(session: Session, runner: CommandRunner, options: TakeOverOptions) {
    this.#session = session;
    this.#runner = runner;
    this.#options = options;
  }

  get isUnderWay(): boolean {
    return this.#hold !== undefined;
  }

  readonly run: ActionHandler = async ({ args }, { signal, output }) => {
    if (this.#hold) return errorObservation('The terminal is taken over already. Nothing was changed.');
    const hold = newHold(this.#options.outputChars);
    this.#hold = hold;
    const cancel = (): void => hold.over.resolve('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (signal.aborted) cancel();
      await this.#begin(hold, output);
      const end = await hold.over.promise;
      const isLeftRunning = await this.#giveBack(end);
      const result = { content: hold.text.take().trimEnd(), exitCode: isLeftRunning ? -1 : 0, suffix: hints.gaveBack(end, isLeftRunning) };
      return runObservation(args, result, this.#session.current ? undefined : this.#session.place);
    } catch (error) {
      return errorObservation(`The terminal could not be taken over: ${reasonOf(error)}`);
    } finally {
      signal.removeEventListener('abort', cancel);
      clearTimeout(hold.grace);
      this.#hold = undefined;
      hold.viewer?.end('the terminal was given back');
    }
  };

  /** Waits for the action to begin. Rejects with words for the person. */
  async attach({ size, onOutput, onEnd }: Pick<OwnShellOptions, 'size' | 'onOutput' | 'onEnd'>): Promise<AgentShell> {
    const session = this.#session;
    for (let waited = 0; !this.#hold?.hasBegun && waited < BEGIN_MS; waited += LOOK_EVERY_MS) await delay(LOOK_EVERY_MS);
    const hold = this.#hold;
    if (!hold?.hasBegun) throw new Error('nobody has taken the terminal over');
    clearTimeout(hold.grace);
    hold.viewer?.end('another page has the terminal now');
    const viewer = createViewer(onOutput, (reason) => onEnd(null, reason));
    hold.viewer = viewer;
    viewer.show(session.recent());
    session.resize(size);
    const ifOurs = (act: () => void): void => (this.#hold === hold && hold.viewer === viewer ? act() : undefined);
    return {
      type: (text) => ifOurs(() => session.type(text)),
      resize: (to) => ifOurs(() => session.resize(to)),
      pause: () => viewer.pause(),
      resume: () => viewer.resume(),
      close: () => ifOurs(() => this.#leave(hold)),
      giveBack: () => ifOurs(() => hold.over.resolve('given back')),
    };
  }

  async #begin(hold: Hold, output: HandlerContext['output']): Promise<void> {
    if (!this.#session.current) await this.#session.ready();
    this.#session.hold((bytes) => {
      hold.text.write(bytes);
      output(bytes);
      hold.viewer?.show(bytes);
    });
    hold.hasBegun = true;
    this.#leave(hold);
  }

  #leave(hold: Hold): void {
    hold.viewer = undefined;
    hold.grace = setTimeout(() => hold.over.resolve('left'), (this.#options.graceSeconds ?? GRACE_SECONDS) * 1000);
  }

  /** Whether a program that the person started goes on in it; the agent can speak to that as to its own. */
  async #giveBack(end: End): Promise<boolean> {
    this.#session.resize({ columns: COLUMNS, rows: ROWS });
    const left = await this.#session.release();
    if (left && end === 'cancelled') await cancelForeground(this.#session, left);
    if (!left || left.ended) return false;
    this.#runner.adopt(left);
    return true;
  }
}

function newHold(outputChars: number | undefined): Hold {
  const text = new TerminalText(outputChars);
  return { text, over: Promise.withResolvers(), hasBegun: false, viewer: undefined, grace: undefined };
}

/** A page that does not keep up is shown the newest; the agent's programs do not wait for it. */
function createViewer(onOutput: (text: string) => void, onEnd: (reason: string) => void): Viewer & Pick<OwnShell, 'pause' | 'resume'> {
  const decoder = new StringDecoder('utf8');
  const late = createNewestBytes(NEWEST_BYTES);
  let isFull = false;
  function show(bytes: Buffer): void {
    const text = isFull ? '' : decoder.write(bytes);
    if (isFull) late.push(bytes);
    else if (text !== '') onOutput(text);
  }
  return {
    show,
    end: onEnd,
    pause: () => void (isFull = true),
    resume() {
      isFull = false;
      show(late.take());
    },
  };
}
