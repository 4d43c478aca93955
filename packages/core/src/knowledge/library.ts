/**
 * What a conversation knows beside its log: the user's microagents and those of its workspace. It owns what was read.
 *
 * Invariants
 * K1  Read once per opened conversation; what failed is tried again when it is needed next.
 * K2  Nobody waits for it longer than `WAIT_MS`: without a sandbox there is an answer too, and it says what is missing.
 */
import type { Clock } from '../async/clock.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Microagent } from './parse-microagent.ts';
import { workspaceMicroagents } from './workspace-microagents.ts';

/** As of now. */
export interface LibraryContent {
  readonly microagents: readonly Microagent[];
  /** Why the files of the workspace are not among them; undefined when they are. */
  readonly missing: string | undefined;
}

export interface Library {
  readonly known: LibraryContent;
  /** Begins to read without waiting. */
  warm(): void;
  /** Everything, or what there is when the time is up. Never rejects. */
  load(): Promise<LibraryContent>;
}

export interface LibraryOptions {
  readonly sandbox: Sandbox;
  /** The user's own, from outside the workspace. */
  readonly microagents: (() => Promise<readonly Microagent[]>) | undefined;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly report: (error: unknown) => void;
}

/** A sandbox that is slower than this does not hold back the model. */
const WAIT_MS = 5_000;

export function createLibrary({ sandbox, microagents, clock, closing, report }: LibraryOptions): Library {
  let own: readonly Microagent[] | undefined;
  let known: LibraryContent = { microagents: [], missing: 'the sandbox is not there yet' };
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    // A new folder has nothing to say: no sandbox is started to hear it. Any other start takes longest, so it is asked for first.
    const acquiring = sandbox.isWorkspaceEmpty().then((isEmpty) => (isEmpty ? undefined : sandbox.acquire(closing)));
    own ??= await ownMicroagents();
    known = { ...known, microagents: own };
    const acquired = await acquiring;
    if (acquired === undefined) {
      known = { ...known, missing: undefined };
      return;
    }
    if (!acquired.ok) {
      known = { ...known, missing: acquired.reason };
      return;
    }
    const onProblem = (problem: string): void => report(new Error(problem));
    const found = await workspaceMicroagents(acquired.runtime.files, { signal: closing, onProblem });
    const names = new Set(found.map(({ name }) => name));
    known = { microagents: [...found, ...own.filter(({ name }) => !names.has(name))], missing: undefined };
  }

  async function ownMicroagents(): Promise<readonly Microagent[]> {
    try {
      return (await microagents?.()) ?? [];
    } catch (error) {
      report(error);
      return [];
    }
  }

  function begin(): Promise<void> {
    if (known.missing === undefined) return Promise.resolve();
    reading ??= read()
      .catch(report)
      .finally(() => (reading = undefined));
    return reading;
  }

  return {
    get known() {
      return known;
    },
    warm: () => void begin(),
    async load() {
      if (known.missing === undefined) return known;
      const over = new AbortController();
      const signal = AbortSignal.any([over.signal, closing]);
      await Promise.race([begin(), clock.sleep(WAIT_MS, { signal }).catch(() => undefined)]);
      over.abort();
      return known;
    },
  };
}
