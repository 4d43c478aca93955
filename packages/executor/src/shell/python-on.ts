import { findOnPath, isExecutable } from '@tendon/protocol/node';

const PATH_LINE = /^declare -\w+ PATH="((?:[^"\\]|\\.)*)"$/m;
let last: { readonly path: string; readonly python: string | null } | undefined;

/** The `python` that the shell would run, from its exported variables; null without one. */
export function pythonOn(exports: string): string | null {
  const path = PATH_LINE.exec(exports)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? '';
  if (last?.path === path && last.python !== null && isExecutable(last.python)) return last.python;
  last = { path, python: findOnPath(['python', 'python3'], path) ?? null };
  return last.python;
}
