import { isAbsolute, relative } from 'node:path';

/** Whether `path` is `folder` or below it. Both absolute and normalised. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
