import { Mutex } from '@tendon/protocol/async';
import type { ObservationDraft } from '@tendon/protocol';
import { textArgument, type ActionHandler, type Request } from '../../action-handler.ts';
import { checkPath } from '../check-path.ts';
import { draftedEdit, type DraftedEditOptions } from './drafted-edit.ts';
import { EditFailure } from '../edit-failure.ts';
import { editObservation, unchanged } from './edit-observation.ts';
import { EDIT_COMMANDS, type EditRequest } from './editor.ts';
import { failureText } from '../failure-text.ts';
import type { UndoableDisk } from './undoable-disk.ts';
import { view } from '../view.ts';

const COMMANDS = ['view', ...Object.keys(EDIT_COMMANDS)];

/** `edit`: the editor tool. Failures are observations of the same kind whose content begins with `ERROR:`. */
export function createEditAction(options: DraftedEditOptions): ActionHandler {
  const mutex = new Mutex(); // each edit reads what the one before wrote

  return ({ args }) => {
    const isDrafted = args.impl_source === 'llm_based_edit';
    return mutex.run(() => (isDrafted ? draftedEdit(args, options) : edit(args, options.workspace, options.disk)));
  };
}

async function edit(args: Request['args'], workspace: string, disk: UndoableDisk): Promise<ObservationDraft<'edit'>> {
  const path = textArgument(args, 'path');
  const command = textArgument(args, 'command');
  const answer = (content: string, isThere?: boolean): ObservationDraft<'edit'> => unchanged(path, 'oh_aci', content, isThere);
  try {
    if (!COMMANDS.includes(command)) {
      const wrong = command === '' ? 'The command is missing' : `There is no command ${command}`;
      throw new EditFailure(`${wrong}; there are ${COMMANDS.join(', ')}.`);
    }
    if (command !== 'view') disk.refuseReadOnly(path);
    await checkPath(path, command, workspace);
    if (command === 'view') return answer(await view(disk, path, args.view_range), true);
    return await editObservation(path, 'oh_aci', await EDIT_COMMANDS[command as keyof typeof EDIT_COMMANDS](requestOf(args), disk));
  } catch (error) {
    return answer(`ERROR:\n${failureText(error, path)}`);
  }
}

function requestOf(args: Request['args']): EditRequest {
  const text = (name: string): string | undefined => (typeof args[name] === 'string' ? args[name] : undefined);
  const line = args.insert_line;
  return {
    path: textArgument(args, 'path'),
    fileText: text('file_text'),
    oldText: text('old_str'),
    newText: text('new_str'),
    insertLine: typeof line === 'number' && Number.isInteger(line) ? line : undefined,
  };
}
