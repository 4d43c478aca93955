import { isAction, type Action, type Observation } from '../../event.ts';

const ROOT = '/workspace';

/** A path as in 0.3 to 0.5, relative to the workspace. Any other path breaks their file tree. */
export function inWorkspace(path: string): string {
  if (path === ROOT) return '.';
  return path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1).replace(/^\/+/, '') : path;
}

/** The `write` of a file outside the workspace, which has no place in the file tree of 0.3 to 0.5. */
export function writesOutside(event: Action | Observation): boolean {
  if (isAction(event)) return event.action === 'write' && inWorkspace(event.args.path).startsWith('/');
  return event.observation === 'edit' && event.extras.new_content !== null && inWorkspace(event.extras.path).startsWith('/');
}
