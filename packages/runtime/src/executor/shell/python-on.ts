import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const PATH_LINE = /^declare -\w+ PATH="((?:[^"\\]|\\.)*)"$/m;
let last: { readonly path: string; readonly python: string | null } | undefined;

/** The `python` that the shell would run, from its exported variables; null without one. */
export function pythonOn(exports: string): string | null {
  const path = PATH_LINE.exec(exports)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? '';
  if (last?.path === path && last.python !== null && isExecutable(last.python)) return last.python;
  const candidates = ['python', 'python3'].flatMap((name) =>
    path.split(':').flatMap((folder) => (folder === '' ? [] : [join(folder, name)])),
  );
  last = { path, python: candidates.find(isExecutable) ?? null };
  return last.python;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
