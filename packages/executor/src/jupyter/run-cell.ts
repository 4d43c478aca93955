import { readlinkSync } from 'node:fs';
import { Mutex } from '@tendon/protocol/async';
import type { ObservationDraft } from '@tendon/protocol';
import { textArgument, type HandlerContext, type ActionRequest, errorObservation } from '../action-handler.ts';
import { portsHeldBy } from '../ports/served-ports.ts';
import type { Place } from '../shell/shell-memory.ts';
import { waitFor, type Clocks, type WaitEnd } from '../wait-for.ts';
import { Cell } from './cell.ts';
import type { Kernel } from './kernel.ts';
import type { KernelPlace } from './kernel-process.ts';
import * as words from './kernel-words.ts';
import { exchangeSecrets } from './kernel-code.ts';
import { startKernel } from './start-kernel.ts';

/** The kernel of this sandbox before it hibernated. */
export interface KernelBefore {
  readonly hadKernel: boolean;
  readonly kernelInitCode: string;
}

export interface RunCellOptions extends KernelPlace {
  /** Where the shell is now. */
  readonly place: () => Place;
  /** Python that runs in every new kernel before anything else. */
  readonly preload: string;
  /** A kernel that ended with a hibernation. */
  readonly before?: KernelBefore;
  /** Without new output for so long, a cell is handed back as still running. */
  readonly noOutputSeconds: number;
  /** After so long a cell of an action that names no timeout is interrupted. */
  readonly defaultTimeoutSeconds: number;
  /** Of an observation. */
  readonly outputChars?: number;
}

// A kernel that is killed loses all variables: on a busy machine even the traceback of an interrupt takes seconds.
const OBEY_MS = 5000;
const BEGIN_MS = 5000;
const DIE_MS = 3000;
const INIT_DEADLINE_MS = 60_000;

/**
 * The rules of `run_ipython`. Owns at most one kernel, which starts with the first cell and again after it has ended.
 *
 * 1. Cells are taken one after the other, in one kernel, as long as that lives; what it loses by dying is reported.
 * 2. The code that prepares kernels has run in every kernel before its first cell.
 */
export class CellRunner {
  readonly #options: RunCellOptions;
  readonly #mutex = new Mutex();
  #kernel: Kernel | undefined;
  /** Was handed back: it runs, or its last output was not taken. */
  #last: Cell | undefined;
  /** What prepares kernels, and whether it has run in this one. */
  #initCode: string;
  #hasInit = false;
  /** The kernel before ended with a hibernation. */
  #isMissed: boolean;
  #ownPorts: readonly number[] = [];
  /** Variables that this kernel has for its newest cell. */
  #lent: ActionRequest['secrets'];

  constructor(options: RunCellOptions) {
    this.#options = options;
    this.#initCode = options.before?.kernelInitCode ?? '';
    this.#isMissed = options.before?.hadKernel === true;
  }

  run(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    return this.#mutex.run(() => this.#step(request, context));
  }

  /** Brings a kernel up unless one runs; resolves with the sentence why there is none. */
  warm(context: HandlerContext): Promise<string | undefined> {
    return this.#mutex.run(async () => {
      const up = await this.#bringUp([], context);
      return typeof up === 'string' ? up : undefined;
    });
  }

  isUp(): boolean {
    return this.#kernel?.process.isAlive() ?? false;
  }

  initCode(): string {
    return this.#initCode;
  }

  /** What the kernel listens on for itself: what is there before any code of the agent has run. */
  ports(): readonly number[] {
    return this.#ownPorts;
  }

  /** In the executor's numbering. */
  processes(): readonly number[] {
    return this.#kernel?.process.processes() ?? [];
  }

  close(): void {
    this.#kernel?.close();
  }

  async #start(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    const notes: string[] = [];
    const unseen = this.#last?.take();
    this.#last = undefined;
    if (unseen && unseen.text !== '') notes.push(words.PREVIOUS_OUTPUT, unseen.text);
    const up = await this.#bringUp(notes, context);
    if (typeof up === 'string') return errorObservation(up);
    const given = textArgument(request.args, 'kernel_init_code');
    if (given !== '' && given !== this.#initCode) this.#hasInit = false;
    this.#initCode = given || this.#initCode;
    const failure = this.#hasInit ? undefined : await this.#prepare(up, this.#initCode, context);
    this.#hasInit = true;
    if (failure !== undefined) notes.push(failure);
    await this.#give(up, request.secrets, context);
    const cell = new Cell(this.#options.outputChars);
    this.#last = cell;
    up.run(cell, textArgument(request.args, 'code'));
    return this.#watch(cell, up, request, context, notes);
  }

  /** The kernel that lives, or a new one with what is preloaded; or the sentence why there is none. What the model is to be shown goes into `notes`. */
  async #bringUp(notes: string[], context: HandlerContext): Promise<Kernel | string> {
    if (this.#kernel?.process.isAlive()) return this.#kernel;
    if (this.#kernel) notes.push(words.diedBefore(await this.#kernel.process.ended));
    this.#kernel = undefined;
    const started = await startKernel(this.#options, this.#options.place(), context);
    if (typeof started === 'string') return started;
    this.#kernel = started;
    const pid = started.process.pid();
    this.#ownPorts = pid === undefined ? [] : await portsHeldBy(pid);
    this.#hasInit = false;
    if (this.#isMissed) notes.push(words.hibernated());
    this.#isMissed = false;
    this.#lent = undefined;
    const failure = await this.#prepare(started, this.#options.preload, context);
    if (failure !== undefined) notes.push(failure);
    return started;
  }

  /** Before a cell: takes back what the one before it was given. Unseen and in no history. */
  async #give(to: Kernel, secrets: ActionRequest['secrets'], { signal }: HandlerContext): Promise<void> {
    if (secrets === undefined && this.#lent === undefined) return;
    const cell = new Cell();
    to.run(cell, exchangeSecrets(this.#lent ?? {}, secrets ?? {}), { isSilent: true });
    this.#lent = secrets;
    const end = await waitFor(cell, { quietMs: Infinity, hardMs: INIT_DEADLINE_MS, signal });
    if (end !== 'ended') await stop(to, cell);
  }

  async #prepare(fresh: Kernel, code: string, { signal }: HandlerContext): Promise<string | undefined> {
    if (code.trim() === '') return undefined;
    const cell = new Cell();
    fresh.run(cell, code);
    const end = await waitFor(cell, { quietMs: Infinity, hardMs: INIT_DEADLINE_MS, signal });
    if (end !== 'ended') await stop(fresh, cell);
    return cell.ended === 'ok' ? undefined : words.initFailed(cell.take().text);
  }

  async #watch(cell: Cell, owner: Kernel, request: ActionRequest, context: HandlerContext, notes: string[]): Promise<ObservationDraft> {
    const clocks = clocksOf(request, this.#options);
    cell.onOutput = context.output;
    const end = await waitFor(cell, { ...clocks, signal: context.signal });
    cell.onOutput = undefined;
    if (end === 'timeout' || end === 'cancelled') await stop(owner, cell);
    const { text, images } = cell.take(context.outputPath());
    if (cell.ended && this.#last === cell) this.#last = undefined;
    if (cell.ended === 'died') this.#kernel = undefined;
    const verdict = await verdictOf(cell, owner, end, clocks);
    const silence = verdict === '' && text === '' && cell.ended === 'ok' ? words.NO_OUTPUT : '';
    return answer(request, owner, [...notes, text, silence, verdict], images, cell.ended === 'ok');
  }

  /** An empty cell: waits for the one that was handed back. */
  #poll(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> | ObservationDraft {
    if (this.#last === undefined || this.#kernel === undefined) return answer(request, undefined, [words.NOTHING_TO_RETRIEVE], [], false);
    return this.#watch(this.#last, this.#kernel, request, context, []);
  }

  #refuse(request: ActionRequest, running: Cell, owner: Kernel): ObservationDraft {
    const { text, images } = running.take();
    return answer(request, owner, [text === '' ? '' : words.PREVIOUS_OUTPUT, text, words.notExecuted()], images, false);
  }

  #step(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> | ObservationDraft {
    if (textArgument(request.args, 'code').trim() === '') return this.#poll(request, context);
    return this.#kernel?.current ? this.#refuse(request, this.#kernel.current, this.#kernel) : this.#start(request, context);
  }
}

/** Interrupts the cell, as soon as the kernel works on it and once more; a kernel that does not obey is killed. */
async function stop(kernel: Kernel, cell: Cell): Promise<void> {
  const { signal } = new AbortController();
  await begun(cell);
  for (let tries = 0; tries < 2; tries += 1) {
    kernel.process.interrupt();
    if ((await waitFor(cell, { quietMs: Infinity, hardMs: OBEY_MS, signal })) === 'ended') return;
  }
  kernel.process.kill();
  await waitFor(cell, { quietMs: Infinity, hardMs: DIE_MS, signal });
}

function begun(cell: Cell): Promise<void> {
  if (cell.hasBegun || cell.ended) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, BEGIN_MS);
    cell.onBegin = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

function clocksOf({ timeout }: ActionRequest, { noOutputSeconds, defaultTimeoutSeconds }: RunCellOptions): Clocks {
  const given = typeof timeout === 'number' && timeout > 0 ? timeout : undefined;
  return { quietMs: given === undefined ? noOutputSeconds * 1000 : Infinity, hardMs: (given ?? defaultTimeoutSeconds) * 1000 };
}

async function verdictOf(cell: Cell, kernel: Kernel, end: WaitEnd, clocks: Clocks): Promise<string> {
  if (end === 'quiet') return words.noNewOutput(clocks.quietMs / 1000);
  if (end === 'timeout' || end === 'cancelled') {
    return cell.ended === 'died' || !cell.ended ? words.killed(end, clocks.hardMs / 1000) : words.interrupted(end, clocks.hardMs / 1000);
  }
  return cell.ended === 'died' ? words.died(await kernel.process.ended) : '';
}

function answer(
  { args }: ActionRequest,
  kernel: Kernel | undefined,
  parts: readonly string[],
  images: readonly string[],
  success: boolean,
): ObservationDraft<'run_ipython'> {
  const extra = args.include_extra !== false && kernel ? placeOf(kernel) : [];
  return {
    observation: 'run_ipython',
    content: [...parts, ...extra].filter((part) => part !== '').join('\n'),
    extras: { code: textArgument(args, 'code'), image_urls: images.length === 0 ? null : [...images] },
    success,
  };
}

/** Asked of the system and not of the kernel, which may be busy. Nothing for a dead one. */
function placeOf(kernel: Kernel): readonly string[] {
  try {
    return [words.place(readlinkSync(`/proc/${kernel.process.pid()}/cwd`), kernel.interpreter)];
  } catch {
    return [];
  }
}
