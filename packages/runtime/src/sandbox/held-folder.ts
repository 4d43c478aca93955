import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/**
 * A folder that is known even when another has taken its name. A sandbox keeps what it was given: a workspace that somebody removes
 * lives on in it without a name, where nothing can be made, and what is put in its place is not seen inside.
 */
export interface HeldFolder {
  isRemoved(): boolean;
  close(): void;
}

const NEVER: HeldFolder = { isRemoved: () => false, close: () => {} };

export function holdFolder(path: string): HeldFolder {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    // One that may not be read is not judged.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? { ...NEVER, isRemoved: () => true } : NEVER;
  }
  return {
    isRemoved() {
      try {
        return descriptor !== undefined && fstatSync(descriptor).nlink === 0;
      } catch {
        return true; // a file server has forgotten it
      }
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}
