/** A path as clients of all releases name it, as the sandbox takes it: `/workspace/a` and `a` are the same, so are `/workspace`, `.` and nothing. */
export function workspacePath(path: string): string {
  const inner = /^\/workspace(\/|$)/.test(path) ? path.slice('/workspace'.length).replace(/^\/+/, '') : path;
  return inner || '.';
}
