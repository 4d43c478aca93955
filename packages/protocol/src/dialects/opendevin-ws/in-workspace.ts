import { isAction, type Action, type Observation } from '../../event.ts';

const ROOT = '/workspace';

/** A path as 0.3 to 0.5 had them, from the workspace on. Their tree of files takes every other one apart until it breaks. */
export function inWorkspace(path: string): string {
  if (path === ROOT) return '.';
  return path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1).replace(/^\/+/, '') : path;
}

/** A file elsewhere was written: it has no place in the tree that 0.3 to 0.5 show. */
export function writesOutside(event: Action | Observation): boolean {
  if (isAction(event)) return event.action === 'write' && inWorkspace(event.args.path).startsWith('/');
  return event.observation === 'edit' && event.extras.new_content !== null && inWorkspace(event.extras.path).startsWith('/');
}
