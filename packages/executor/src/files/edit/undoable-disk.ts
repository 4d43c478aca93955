import { Disk, type DiskOptions } from '../disk.ts';
import { EditFailure } from '../edit-failure.ts';
import type { UndoHistory } from './undo-history.ts';

/** A disk that can take back its changes. What is changed through `replace` alone is not remembered. */
export class UndoableDisk extends Disk {
  readonly #history: UndoHistory;

  constructor(options: DiskOptions, history: UndoHistory) {
    super(options);
    this.#history = history;
  }

  /** `before` is what the file holds now; undefined where there is none. */
  async change(path: string, bytes: Uint8Array, before: Uint8Array | undefined): Promise<void> {
    const forget = await this.#history.push(path, { before, after: bytes });
    try {
      await this.replace(path, bytes);
    } catch (error) {
      await forget();
      throw error;
    }
  }

  /**
   * Puts back what was before the newest remembered change, if there is one: its bytes, or null where there was no file. Throws
   * where something else has changed the file since, for that would be lost.
   */
  async undo(path: string, current: Uint8Array | undefined): Promise<Buffer | null | undefined> {
    for (let last = await this.#history.last(path); last; last = await this.#history.last(path)) {
      // Remembered just before a crash, and never carried out.
      const isNow = last.before === undefined ? current === undefined : current !== undefined && last.before.equals(current);
      if (!isNow && current && !last.isAfter(current)) throw new EditFailure(changedSince(path));
      if (!isNow && last.before) await this.replace(path, last.before);
      else if (!isNow) await this.remove(path);
      await last.remove();
      if (!isNow) return last.before ?? null;
    }
    return undefined;
  }
}

function changedSince(path: string): string {
  return `Something else has changed ${path} since its last edit here, and undo_edit would take that back too. Nothing was undone: view the file and edit it as it is now.`;
}
