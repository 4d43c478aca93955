import type { ObservationDraft } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';
import { errorObservation, integerArgument, reasonOf, type ActionHandler, type ActionRequest } from '../action-handler.ts';
import type { Checkpoints, Restored } from './checkpoints.ts';
import { isDestructive } from './destructive.ts';

/** The same handler, with a checkpoint of the workspace before each of its actions. */
export function checkpointed(handler: ActionHandler, checkpoints: Checkpoints): ActionHandler {
  return async (request, context) => {
    if (isServersOwn(request.args)) return handler(request, context);
    const lost = await unlessAborted(checkpoints.before(request.key ?? '', { isDestructive: isDestructive(request.args) }), context.signal);
    const observation = await handler(request, context);
    return lost === undefined ? observation : withNote(observation, lost);
  };
}

/** A command by which the server looks at the workspace, e.g. for what has changed in git. */
function isServersOwn(args: ActionRequest['args']): boolean {
  return args.is_static === true && args.hidden === true;
}

/** The same handler for actions that change nothing: the first reading of the workspace goes on beside them. */
export function preparing(handler: ActionHandler, checkpoints: Checkpoints): ActionHandler {
  return (request, context) => {
    checkpoints.prepare();
    return handler(request, context);
  };
}

/** `restore_checkpoint`: the files of the workspace as they were; the conversation is the engine's. */
export function createRestoreAction(checkpoints: Checkpoints): ActionHandler {
  return async ({ key = '', args }) => {
    const checkpoint = integerArgument(args, 'checkpoint', -1);
    const paths = pathsOf(args);
    try {
      const restored = args.what === 'conversation' ? undefined : await checkpoints.restore(checkpoint, key, paths);
      const observation = restoredObservation(checkpoint, restored, paths);
      return args.what === 'both' ? { ...observation, content: `${observation.content} ${EARLIER}` } : observation;
    } catch (error) {
      return errorObservation(`Checkpoint ${checkpoint} could not be restored: ${reasonOf(error)}`);
    }
  };
}

const EARLIER = 'The conversation goes on from an earlier point.';

/** Without `restored`, of the conversation alone. What it does to that the engine fills in. */
export function restoredObservation(
  checkpoint: number,
  restored?: Restored,
  paths?: readonly string[],
): ObservationDraft<'restore_checkpoint'> {
  const { changed = 0, left = [] } = restored ?? {};
  const content = restored ? wordsOf(checkpoint, restored, paths) : `${EARLIER} The files were not changed.`;
  return { observation: 'restore_checkpoint', content, extras: { checkpoint, what: 'files', from: -1, changed, left: [...left] } };
}

/** Nothing where the whole workspace is meant. */
function pathsOf({ paths }: ActionRequest['args']): readonly string[] | undefined {
  return Array.isArray(paths) && paths.length > 0 ? paths.map(String) : undefined;
}

function wordsOf(checkpoint: number, { changed, left, isStored }: Restored, paths?: readonly string[]): string {
  const what = paths
    ? paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '')
    : 'The files of the workspace';
  const sentences = [
    `${what} ${paths?.length === 1 ? 'was' : 'were'} restored to checkpoint ${checkpoint}: ${changed} changed.`,
    ...(left.length === 0 ? [] : [`These could not be: ${left.join(', ')}.`]),
    ...(isStored ? [] : ['What was there before is too large for a checkpoint, so this cannot be undone.']),
  ];
  return sentences.join(' ');
}

function withNote(observation: ObservationDraft, lost: string): ObservationDraft {
  const note = `\n[The workspace has no checkpoints from here on, so this step and later ones cannot be undone: ${lost}.]`;
  if (observation.observation !== 'run') return { ...observation, content: observation.content + note } as ObservationDraft;
  const { extras } = observation as ObservationDraft<'run'>;
  const metadata = { ...extras.metadata, suffix: extras.metadata.suffix + note };
  return { ...observation, extras: { ...extras, metadata } } as ObservationDraft;
}
