import type { Disk } from '../disk.ts';
import { EditFailure } from '../edit-failure.ts';
import type { UndoHistory } from './undo-history.ts';

/** A disk that can take back its changes. What is changed through `replace` alone is not remembered. */
export interface UndoableDisk extends Disk {
  /** `before` is what the file holds now; undefined where there is none. */
  change(path: string, bytes: Uint8Array, before: Uint8Array | undefined): Promise<void>;
  /**
   * Puts back what was before the newest remembered change, if there is one: its bytes, or null where there was no file. Throws
   * where something else has changed the file since, for that would be lost.
   */
  undo(path: string, current: Uint8Array | undefined): Promise<Buffer | null | undefined>;
}

export function createUndoableDisk(disk: Disk, history: UndoHistory): UndoableDisk {
  return {
    ...disk,
    async change(path, bytes, before) {
      const forget = await history.push(path, { before, after: bytes });
      try {
        await disk.replace(path, bytes);
      } catch (error) {
        await forget();
        throw error;
      }
    },
    async undo(path, current) {
      for (let last = await history.last(path); last; last = await history.last(path)) {
        // Remembered just before a crash, and never carried out.
        const isNow = last.before === undefined ? current === undefined : current !== undefined && last.before.equals(current);
        if (!isNow && current && !last.isAfter(current)) throw new EditFailure(changedSince(path));
        if (!isNow && last.before) await disk.replace(path, last.before);
        else if (!isNow) await disk.remove(path);
        await last.remove();
        if (!isNow) return last.before ?? null;
      }
      return undefined;
    },
  };
}

function changedSince(path: string): string {
  return `Something else has changed ${path} since its last edit here, and undo_edit would take that back too. Nothing was undone: view the file and edit it as it is now.`;
}
