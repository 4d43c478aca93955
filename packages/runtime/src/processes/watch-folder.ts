import { watch } from 'node:fs';

/** Calls when something in the folder changes; a hint, not a promise: where the system has no watches left it is silent. Returns how to stop. */
export function watchFolder(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, onChange).on('error', () => {});
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
