/**
 * What a conversation knows beside its log: the user's microagents and those of its workspace, and what surrounds it there. It owns what
 * was read.
 *
 * Invariants
 * LI1  Read once per opened conversation; what failed is tried again when it is needed next. Notes are read each time.
 * LI2  Nobody waits for it longer than `WAIT_MS`: without a sandbox there is an answer too, and it says what is missing.
 */
import type { Clock } from '../async/clock.ts';
import type { Runtime } from '../sandbox/runtime.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { byName, isFor, type Microagent } from './microagent.ts';
import type { NoteFile } from './note-file.ts';
import type { Surroundings } from './surroundings.ts';
import { workspaceMicroagents } from './workspace-microagents.ts';

/** As of now. */
export interface LibraryContent {
  /** Skills among them. */
  readonly microagents: readonly Microagent[];
  /** Nothing before they were looked at, and in an empty workspace. */
  readonly surroundings?: Surroundings | undefined;
  /** What the user says of each secret, by its name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Of earlier conversations. */
  readonly notes?: readonly NoteFile[];
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

/** What of it comes from outside the workspace's own files. */
export interface KnowledgeSources {
  /** The user's own, from outside the workspace. Default: none. */
  readonly microagents?: () => Promise<readonly Microagent[]>;
  /** Default: there are none. */
  readonly secrets?: () => Readonly<Record<string, string>>;
  /** Of earlier conversations, as they are now. Default: nothing is remembered. */
  readonly notes?: () => Promise<readonly NoteFile[]>;
  /** Looks around in the sandbox; rejects when that failed. Default: nobody looks. */
  readonly survey?: (runtime: Runtime, options: { readonly signal: AbortSignal }) => Promise<Surroundings>;
}

export interface LibraryOptions {
  readonly sandbox: Sandbox;
  /** The name of the one that is at work; microagents for others do not count. */
  readonly agent: () => string;
  readonly sources: KnowledgeSources;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly report: (error: unknown) => void;
}

/** A sandbox that is slower than this does not hold back the model. */
const WAIT_MS = 5_000;

export function createLibrary({ sandbox, agent, sources, clock, closing, report }: LibraryOptions): Library {
  let own: readonly Microagent[] | undefined;
  let notes: readonly NoteFile[] = [];
  let known: Omit<LibraryContent, 'secrets' | 'notes'> = { microagents: [], missing: 'the sandbox is not there yet' };
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    // A new folder has nothing to say: no sandbox is started to hear it. Any other start takes longest, so it is asked for first.
    const acquiring = sandbox.isWorkspaceEmpty().then((isEmpty) => (isEmpty ? undefined : sandbox.acquire(closing)));
    own ??= await ownMicroagents(sources, report);
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
    const { runtime } = acquired;
    const onProblem = (problem: string): void => report(new Error(problem));
    const surroundings = await sources.survey?.(runtime, { signal: closing }).catch((error: unknown) => void report(error));
    const nested = surroundings?.nested ?? [];
    const found = await workspaceMicroagents(runtime.files, { signal: closing, onProblem, nested });
    const names = new Set(found.map(({ name }) => name));
    known = { microagents: [...found, ...own.filter(({ name }) => !names.has(name))], surroundings, missing: undefined };
  }

  function begin(): Promise<void> {
    if (known.missing === undefined) return Promise.resolve();
    reading ??= read()
      .catch(report)
      .finally(() => (reading = undefined));
    return reading;
  }

  const content = (): LibraryContent => ({
    ...known,
    microagents: known.microagents.filter((each) => isFor(each, agent())),
    secrets: sources.secrets?.() ?? {},
    notes,
  });
  return {
    get known() {
      return content();
    },
    warm: () => void begin(),
    async load() {
      notes = (await sources.notes?.().catch((error: unknown) => void report(error))) ?? [];
      if (known.missing === undefined) return content();
      const over = new AbortController();
      const signal = AbortSignal.any([over.signal, closing]);
      await Promise.race([begin(), clock.sleep(WAIT_MS, { signal }).catch(() => undefined)]);
      over.abort();
      return content();
    },
  };
}

async function ownMicroagents({ microagents }: KnowledgeSources, report: LibraryOptions['report']): Promise<readonly Microagent[]> {
  try {
    return byName((await microagents?.()) ?? []);
  } catch (error) {
    report(error);
    return [];
  }
}
