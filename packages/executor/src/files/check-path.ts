import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { OUTPUT_FOLDER } from '@tendon/protocol/executor-api';
import { EditFailure } from './failures.ts';

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

/** An absolute path inside the sandbox; what is relative is so to the workspace. The mount namespace is the boundary. */
export function resolvePath(workspace: string, path: string): string {
  if (path.includes('\0')) throw new Error('a path holds no NUL');
  return outputPath(path) ?? resolve(workspace, path);
}

/** Where a stored output is, of a path that names one as a shell would; no other path of the home, which rules would take for a relative one. */
export function outputPath(path: string): string | undefined {
  const name = path.startsWith(`${OUTPUT_FOLDER}/`) ? path.slice(OUTPUT_FOLDER.length + 1) : '';
  const isOne = name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0');
  return isOne || path === OUTPUT_FOLDER ? join(homedir(), OUTPUT_FOLDER.slice(2), name) : undefined;
}
