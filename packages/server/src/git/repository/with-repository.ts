/**
 * A conversation's sandboxes, with its repository in them before anybody else is let in. Owns whether this process has seen to
 * that; what is durable is the incarnation that was made ready, in the conversation's record.
 *
 * RP1  Nobody gets a sandbox that is not ready: whoever asks meanwhile shares the wait, and leaving ends nobody else's.
 * RP2  A failure is said once in the log, and the sandbox is handed out all the same; the next sandbox tries again.
 * RP3  Cut off at any point, it is done again from the beginning.
 */
import type { Runtime, Runtimes, SourcedDraft, StartPhase } from '@tendon/core';
import { ErrorObservation } from '@tendon/protocol';
import { cloneRepository, enterCommand, hasSetup, installHook, type PrepareOptions } from './prepare-repository.ts';
import type { RepositorySource } from '../../git-providers/repository-source.ts';
import { runInSession, setupEvents } from './run-setup.ts';

export interface WithRepositoryOptions extends Omit<PrepareOptions, 'onProgress'> {
  readonly source: RepositorySource;
  /** The incarnation that was made ready last. */
  readonly ready: string | undefined;
  /** Resolves when it is durable. */
  readonly saveReady: (incarnation: string) => Promise<void>;
  /** Appends, in order; the id of the first is given. */
  readonly note: (drafts: (firstId: number) => readonly SourcedDraft[]) => Promise<void>;
}

type OnPhase = (phase: StartPhase, detail?: string) => void;

export function withRepository(runtimes: Runtimes, options: WithRepositoryOptions): Runtimes {
  let ready = options.ready;
  let wasCloned = ready !== undefined;
  let preparing: { readonly incarnation: string; readonly done: Promise<void> } | undefined;
  const listeners = new Set<OnPhase>();

  async function prepare(runtime: Runtime): Promise<void> {
    const progress: PrepareOptions = { ...options, onProgress: (words) => tell('workspace', words) };
    tell('workspace', options.source.folder);
    const failure = await cloneRepository(runtime, options.source, progress);
    if (failure !== undefined)
      return say(`The repository ${options.source.url} could not be cloned: ${failure}`, 'STATUS$ERROR_REPOSITORY');
    await runInSession(runtime, enterCommand(runtime, options.source), { now: options.now(), timeoutSeconds: 20 });
    tell('git-hooks');
    const unhooked = await installHook(runtime, options.source, progress);
    if (unhooked !== undefined) await say(`.openhands/pre-commit.sh could not be made the hook: ${unhooked}`, 'STATUS$ERROR_GIT_HOOKS');
    if (!wasCloned && (await hasSetup(runtime, options.source, progress))) {
      tell('workspace', '.openhands/setup.sh');
      await options.note(await setupEvents(runtime, options.now()));
    }
    wasCloned = true;
    await options.saveReady(runtime.incarnation);
  }

  function tell(...phase: Parameters<OnPhase>): void {
    for (const listener of listeners) listener(...phase);
  }

  function say(words: string, id: string): Promise<void> {
    return options.note(() => [{ source: 'environment', ...ErrorObservation.create(words, { error_id: id }) }]);
  }

  function made(runtime: Runtime): Promise<void> {
    const { incarnation } = runtime;
    if (ready === incarnation) return Promise.resolve();
    if (preparing?.incarnation === incarnation) return preparing.done;
    const done = prepareOnce(runtime);
    preparing = { incarnation, done };
    return done;
  }

  /** Never rejects: a sandbox that was lost meanwhile is somebody else's to notice. */
  async function prepareOnce(runtime: Runtime): Promise<void> {
    try {
      await prepare(runtime);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      await say(`The repository could not be made ready: ${why}`, 'STATUS$ERROR_REPOSITORY').catch(() => undefined);
    }
    ready = runtime.incarnation;
    preparing = undefined;
  }

  return {
    ...runtimes,
    async acquire(conversationId, { onPhase, ...rest }) {
      const begun: OnPhase = (phase, detail) => (phase === 'ready' ? undefined : onPhase?.(phase, detail));
      listeners.add(begun);
      try {
        const runtime = await runtimes.acquire(conversationId, { ...rest, onPhase: begun });
        await made(runtime);
        onPhase?.('ready');
        return runtime;
      } finally {
        listeners.delete(begun);
      }
    },
    current(conversationId) {
      const runtime = runtimes.current(conversationId);
      return runtime?.incarnation === ready ? runtime : undefined;
    },
    isWorkspaceEmpty: async (conversationId) =>
      ready === undefined ? false : ((await runtimes.isWorkspaceEmpty?.(conversationId)) ?? false),
  };
}
