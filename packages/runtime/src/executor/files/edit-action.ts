import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { ObservationDraft } from '@tendon/protocol';
import { textArgument, type ActionHandler, type Request } from '../action-handler.ts';
import { errorObservation, reasonOf } from '../observation.ts';
import { EditFailure } from './edit-failure.ts';
import { EDIT_COMMANDS, type EditRequest } from './editor.ts';
import { NotText } from './not-text.ts';
import { unifiedDiff } from './unified-diff.ts';
import type { UndoableDisk } from './undoable-disk.ts';
import { view } from './view.ts';

const MAX_CARRIED = 1024 * 1024;
const COMMANDS = ['view', ...Object.keys(EDIT_COMMANDS)];

/** `edit`: the editor tool. Failures are observations of the same kind whose content begins with `ERROR:`. */
export function createEditAction(workspace: string, disk: UndoableDisk): ActionHandler {
  let turn: Promise<unknown> = Promise.resolve(); // one edit after the other: each reads what the one before wrote

  return ({ args }) => {
    if (args.impl_source === 'llm_based_edit') {
      const message =
        "This version's runtime has no editing by a language model (llm_based_edit). Use the command str_replace, insert or create.";
      return Promise.resolve(errorObservation(message));
    }
    const done = turn.then(() => edit(args, workspace, disk));
    turn = done.catch(() => {});
    return done;
  };
}

async function edit(args: Request['args'], workspace: string, disk: UndoableDisk): Promise<ObservationDraft<'edit'>> {
  const path = textArgument(args, 'path');
  const command = textArgument(args, 'command');
  const answer = (content: string, extras: Partial<ObservationDraft<'edit'>['extras']> = {}): ObservationDraft<'edit'> => ({
    observation: 'edit',
    content,
    extras: { path, prev_exist: false, old_content: null, new_content: null, impl_source: 'oh_aci', diff: null, ...extras },
  });
  try {
    if (!COMMANDS.includes(command)) {
      throw new EditFailure(`There is no command ${command}; there are ${COMMANDS.join(', ')}.`);
    }
    await checkPath(path, command, workspace);
    if (command === 'view') return answer(await view(disk, path, args.view_range), { prev_exist: true });
    const edited = await EDIT_COMMANDS[command as keyof typeof EDIT_COMMANDS](requestOf(args), disk);
    return answer(edited.content, {
      prev_exist: edited.before !== null,
      old_content: carried(edited.before),
      new_content: carried(edited.after),
      diff: await unifiedDiff(path, edited.before ?? '', edited.after ?? ''),
    });
  } catch (error) {
    return answer(`ERROR:\n${failureText(error, path)}`);
  }
}

/** Contents travel with the observation up to a length; beyond it the diff says what changed. */
function carried(text: string | null): string | null {
  return text !== null && text.length > MAX_CARRIED ? null : text;
}

const MAKES_FILES = ['create', 'undo_edit', 'write'];

/** Throws `EditFailure` for a path that this command cannot work on. */
export async function checkPath(path: string, command: string, workspace: string): Promise<void> {
  if (path === '') throw new EditFailure(`${command} needs the parameter path.`);
  if (path.includes('\0')) throw new EditFailure('The path holds a NUL character.');
  if (!isAbsolute(path)) {
    const meant = join(workspace, path);
    const hint = (await stat(meant).catch(() => undefined)) ? ` Maybe you meant ${meant}?` : '';
    throw new EditFailure(`The path ${path} is not absolute: it must begin with /.${hint}`);
  }
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => (isAbsent(error) ? undefined : Promise.reject(error)));
  if (!found && !MAKES_FILES.includes(command)) {
    throw new EditFailure(`There is no file or folder ${path}.`);
  }
  if (found?.isDirectory() && command !== 'view') {
    throw new EditFailure(`${path} is a folder, and only view works on folders.`);
  }
}

export function failureText(error: unknown, path: string): string {
  if (error instanceof EditFailure) return error.message;
  if (error instanceof NotText) return `The file ${path} cannot be viewed or edited here: ${error.message}.`;
  return `The file ${path} could not be used: ${reasonOf(error)}`;
}

function isAbsent(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
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
