import { z } from 'zod';
import { defineAction, defineObservation } from '../define.ts';

/** What goes back: the files of the workspace, what the model is shown of the conversation, or both. */
export const RESTORED = ['files', 'conversation', 'both'] as const;

/** Of the files, only these, by their paths in the workspace; a folder means all that is in it. */
export const RestoredPaths = z.array(z.string().min(1).max(4096)).min(1).max(200);

const what = z.enum(RESTORED).default('both');
/** The first event that the model is no longer shown; −1 where the conversation stays as it is. A client may name it: a message or a step. */
const from = z.number().int().min(-1).default(-1);

export const RestoreCheckpointAction = defineAction({
  kind: 'restore_checkpoint',
  args: () => ({ checkpoint: z.number().int().min(1), what, from, paths: RestoredPaths.optional() }),
  traits: { answeredBy: 'runtime', mutating: true },
  message: (args) => `Restoring checkpoint ${args.checkpoint}`,
});

export const RestoreCheckpointObservation = defineObservation({
  kind: 'restore_checkpoint',
  extras: () => ({
    checkpoint: z.number().int(),
    what,
    from,
    /** Files that were written, replaced or removed. */
    changed: z.number().int().default(0),
    /** Some that could not be put right. */
    left: z.array(z.string().max(4096)).max(20).default([]),
  }),
  message: (extras) => `Checkpoint ${extras.checkpoint} was restored.`,
});
