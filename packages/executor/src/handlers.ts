import type { RunnableKind } from '@tendon/protocol';
import type { ActionHandler } from './action-handler.ts';
import { createEditAction } from './files/edit/edit-action.ts';
import { createReadAction } from './files/read-action.ts';
import { createWriteAction } from './files/write-action.ts';
import type { SyntaxCheck } from './files/edit/syntax-check.ts';
import type { UndoableDisk } from './files/edit/undoable-disk.ts';
import { errorObservation } from './observation.ts';

export interface Tools {
  readonly workspace: string;
  readonly disk: UndoableDisk;
  readonly checkSyntax: SyntaxCheck;
  readonly run: ActionHandler;
  readonly kill: ActionHandler;
  /** What plugins answer; they come before what is here. */
  readonly plugged: Partial<Readonly<Record<RunnableKind, ActionHandler>>>;
}

/** Every kind that the executor answers; a new kind does not compile until it is here. */
export function createHandlers({ workspace, disk, checkSyntax, run, kill, plugged }: Tools): Readonly<Record<RunnableKind, ActionHandler>> {
  return {
    run,
    kill,
    read: createReadAction(workspace, disk),
    write: createWriteAction(workspace, disk),
    edit: createEditAction({ workspace, disk, checkSyntax }),
    run_ipython: absent('the plugin `jupyter`'),
    browse: absent('the plugin `browser`'),
    browse_interactive: absent('the plugin `browser`'),
    ...plugged,
  };
}

function absent(what: string): ActionHandler {
  return () => Promise.resolve(errorObservation(`This sandbox does not have ${what}: the action was not carried out.`));
}
