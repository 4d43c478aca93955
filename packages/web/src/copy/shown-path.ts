/** A path as people say it: inside the workspace without the workspace. */
export function shownPath(path: string): string {
  return path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : path;
}
