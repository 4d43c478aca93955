import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { EditFailure } from './edit-failure.ts';

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

function isAbsent(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
}
