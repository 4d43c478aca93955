import type { ObservationDraft } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';
import { errorObservation, integerArgument, reasonOf, type ActionHandler, type ActionRequest } from '../action-handler.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Restored } from './workspace-restore.ts';

/** The same handler, with a checkpoint of the workspace before each of its actions. */
export function checkpointed(handler: ActionHandler, checkpoints: Checkpoints): ActionHandler {
  return async (request, context) => {
    if (isServersOwn(request.args)) return handler(request, context);
    const lost = await unlessAborted(checkpoints.before(request.key ?? ''), context.signal);
    const observation = await handler(request, context);
    return lost === undefined ? observation : withNote(observation, lost);
  };
}

/** A command by which the server looks at the workspace, e.g. for what has changed in git. */
function isServersOwn(args: ActionRequest['args']): boolean {
  return args.is_static === true && args.hidden === true;
}

/** The same handler for actions that change nothing: it waits only for a restore that an earlier executor was killed in. */
export function afterRestore(handler: ActionHandler, checkpoints: Checkpoints): ActionHandler {
  return async (request, context) => {
    await unlessAborted(checkpoints.ready(), context.signal);
    return handler(request, context);
  };
}

/** `restore_checkpoint`: the files of the workspace as they were; the conversation is the engine's. */
export function createRestoreAction(checkpoints: Checkpoints): ActionHandler {
  return async ({ key = '', args }) => {
    const checkpoint = integerArgument(args, 'checkpoint', -1);
    const isOfFiles = args.what !== 'conversation';
    try {
      const { changed, left } = isOfFiles ? await checkpoints.restore(checkpoint, key) : NOTHING;
      const content = isOfFiles
        ? wordsOf(checkpoint, { changed, left })
        : 'The conversation goes on from an earlier point; the files are as they were.';
      // What it does to the conversation the engine fills in.
      const extras = { checkpoint, what: 'files' as const, from: -1, changed, left: [...left] };
      return { observation: 'restore_checkpoint', content, extras };
    } catch (error) {
      return errorObservation(`Checkpoint ${checkpoint} could not be restored: ${reasonOf(error)}`);
    }
  };
}

function wordsOf(checkpoint: number, { changed, left }: Restored): string {
  const files = `The files of the workspace were restored to checkpoint ${checkpoint}: ${changed} changed.`;
  return left.length === 0 ? files : `${files} These could not be: ${left.join(', ')}`;
}

const NOTHING: Restored = { changed: 0, left: [] };

function withNote(observation: ObservationDraft, lost: string): ObservationDraft {
  const note = `\n[The workspace has no checkpoints from here on, so this step and later ones cannot be undone: ${lost}.]`;
  if (observation.observation !== 'run') return { ...observation, content: observation.content + note } as ObservationDraft;
  const { extras } = observation as ObservationDraft<'run'>;
  const metadata = { ...extras.metadata, suffix: extras.metadata.suffix + note };
  return { ...observation, extras: { ...extras, metadata } } as ObservationDraft;
}
