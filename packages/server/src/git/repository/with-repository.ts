/**
 * A conversation's sandboxes, with its repository in them before anybody else is let in. Owns whether this process has seen to
 * that; what is durable is the incarnation that was made ready, in the conversation's record.
 *
 * WI1  Nobody gets a sandbox that is not ready: a caller that asks meanwhile shares the wait, and leaving ends nobody else's.
 * WI2  A failure is reported once in the log, and the sandbox is handed out all the same; the next sandbox tries again.
 * WI3  Cut off at any point, it is done again from the beginning.
 */
import { randomInt } from 'node:crypto';
import type { Runtime, Runtimes, SourcedDraft, StartPhase, ExecuteResult, RunnableAction } from '@tendon/core';
import { ErrorObservation, RunAction } from '@tendon/protocol';
import { cloneRepository, enterCommand, hasSetup, installHook, type PrepareOptions } from './prepare-repository.ts';
import type { RepositorySource } from '../../git-providers/repository-source.ts';

export interface WithRepositoryOptions extends Omit<PrepareOptions, 'onProgress'> {
  readonly source: RepositorySource;
  /** The incarnation that was made ready last. */
  readonly ready: string | undefined;
  /** Resolves when it is durable. */
  readonly saveReady: (incarnation: string) => Promise<void>;
  /** Its agent changes nothing: once the repository is there, the workspace is mounted read-only. */
  readonly isReadOnly: () => boolean;
  /** Appends, in order; the id of the first is given. */
  readonly note: (drafts: (firstId: number) => readonly SourcedDraft[]) => Promise<void>;
}

type OnPhase = (phase: StartPhase, detail?: string) => void;

export function withRepository(runtimes: Runtimes, options: WithRepositoryOptions): Runtimes {
  const preparation = new Preparation(options);
  return {
    ...runtimes,
    async acquire(conversationId, { onPhase, ...rest }) {
      const begun: OnPhase = (phase, detail) => (phase === 'ready' ? undefined : onPhase?.(phase, detail));
      const unwatch = preparation.watch(begun);
      try {
        let runtime = await runtimes.acquire(conversationId, { ...rest, onPhase: begun });
        await preparation.made(runtime);
        if (options.isReadOnly() && !runtime.isReadOnly) {
          await options.saveReady(runtime.incarnation); // whether or not it was cloned: what is there is all there will be
          await runtimes.remount?.(conversationId);
          runtime = await runtimes.acquire(conversationId, { ...rest, onPhase: begun });
          await preparation.made(runtime);
        }
        onPhase?.('ready');
        return runtime;
      } finally {
        unwatch();
      }
    },
    current(conversationId) {
      const runtime = runtimes.current(conversationId);
      const isMounted = runtime?.isReadOnly || !options.isReadOnly();
      return isMounted && runtime?.incarnation === preparation.ready ? runtime : undefined;
    },
    isWorkspaceEmpty: async (conversationId) =>
      preparation.ready === undefined ? false : ((await runtimes.isWorkspaceEmpty?.(conversationId)) ?? false),
  };
}

class Preparation {
  readonly #options: WithRepositoryOptions;
  readonly #listeners = new Set<OnPhase>();
  #ready: string | undefined;
  #wasCloned: boolean;
  #preparing: { readonly incarnation: string; readonly done: Promise<void> } | undefined;

  constructor(options: WithRepositoryOptions) {
    this.#options = options;
    this.#ready = options.ready;
    this.#wasCloned = options.ready !== undefined;
  }

  /** The incarnation that has the repository. */
  get ready(): string | undefined {
    return this.#ready;
  }

  /** Until the returned function is called. */
  watch(listener: OnPhase): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  made(runtime: Runtime): Promise<void> {
    const { incarnation } = runtime;
    if (this.#ready === incarnation) return Promise.resolve();
    if (this.#preparing?.incarnation === incarnation) return this.#preparing.done;
    const done = this.#prepareOnce(runtime);
    this.#preparing = { incarnation, done };
    return done;
  }

  /** Never rejects: a sandbox that was lost meanwhile is somebody else's to notice. */
  async #prepareOnce(runtime: Runtime): Promise<void> {
    try {
      await this.#prepare(runtime);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      await this.#say(`The repository could not be made ready: ${why}`, 'STATUS$ERROR_REPOSITORY').catch(() => undefined);
    }
    this.#ready = runtime.incarnation;
    this.#preparing = undefined;
  }

  async #prepare(runtime: Runtime): Promise<void> {
    const { source, now, note, saveReady } = this.#options;
    const progress: PrepareOptions = { ...this.#options, onProgress: (words) => this.#report('workspace', words) };
    this.#report('workspace', source.folder);
    if (runtime.isReadOnly) {
      await runInSession(runtime, enterCommand(runtime, source), { now: now(), timeoutSeconds: 20 });
      return;
    }
    const failure = await cloneRepository(runtime, source, progress);
    if (failure !== undefined) return this.#say(`The repository ${source.url} could not be cloned: ${failure}`, 'STATUS$ERROR_REPOSITORY');
    await runInSession(runtime, enterCommand(runtime, source), { now: now(), timeoutSeconds: 20 });
    this.#report('git-hooks');
    const unhooked = await installHook(runtime, source, progress);
    if (unhooked !== undefined)
      await this.#say(`.openhands/pre-commit.sh could not be made the hook: ${unhooked}`, 'STATUS$ERROR_GIT_HOOKS');
    if (!this.#wasCloned && (await hasSetup(runtime, source, progress))) {
      this.#report('workspace', '.openhands/setup.sh');
      await note(await setupEvents(runtime, now()));
    }
    this.#wasCloned = true;
    await saveReady(runtime.incarnation);
  }

  #report(...phase: Parameters<OnPhase>): void {
    for (const listener of this.#listeners) listener(...phase);
  }

  #say(words: string, id: string): Promise<void> {
    return this.#options.note(() => [{ source: 'environment', ...ErrorObservation.create(words, { error_id: id }) }]);
  }
}

const SETUP_SECONDS = 600;
/** Read and not run: what it exports stays. Its mode is left alone, for that would be a change of the repository's. */
const COMMAND = 'source .openhands/setup.sh';
/** Ids of events never get there. */
const [FIRST_ID, LAST_ID] = [2 ** 40, 2 ** 47];

interface InSession {
  readonly now: Date;
  readonly timeoutSeconds: number;
}

/** Runs a command in the agent's shell, before the agent has it: what it exports and where it goes stays. */
function runInSession(runtime: Runtime, command: string, { now, timeoutSeconds }: InSession): Promise<ExecuteResult> {
  const action: RunnableAction = {
    ...RunAction.create({ command }),
    id: randomInt(FIRST_ID, LAST_ID),
    timestamp: now.toISOString(),
    source: 'environment',
    timeout: timeoutSeconds,
    executor: runtime.incarnation,
  };
  return runtime.execute(action, { signal: AbortSignal.timeout((timeoutSeconds + 30) * 1000), isFresh: true });
}

/** Runs `.openhands/setup.sh` and returns the events that report it: they are appended together, so no report is partial. */
async function setupEvents(runtime: Runtime, now: Date): Promise<(firstId: number) => readonly SourcedDraft[]> {
  const result = await runInSession(runtime, COMMAND, { now, timeoutSeconds: SETUP_SECONDS });
  const action: SourcedDraft = { source: 'environment', ...RunAction.create({ command: COMMAND }), timeout: SETUP_SECONDS };
  return (firstId) => [action, { source: 'environment', ...observationOf(result), cause: firstId }];
}

function observationOf(result: ExecuteResult) {
  if (result.outcome === 'observed') return result.observation;
  return ErrorObservation.create(`.openhands/setup.sh did not run to its end: ${result.reason}`, { error_id: 'STATUS$ERROR_SETUP' });
}
