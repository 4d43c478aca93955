import { resolve } from 'node:path';

/** An absolute path inside the sandbox; what is relative is so to the workspace. The mount namespace is the boundary. */
export function resolvePath(workspace: string, path: string): string {
  if (path.includes('\0')) throw new Error('a path holds no NUL');
  return resolve(workspace, path);
}
