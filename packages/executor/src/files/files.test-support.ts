import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { ObservationDraft } from '@tendon/protocol';
import type { HandlerContext } from '../action-handler.ts';
import { createEditAction } from './edit/edit-action.ts';
import { createReadAction } from './read-action.ts';
import { createUndoHistory, UndoableDisk } from './edit/undoable-disk.ts';
import { createWriteAction } from './write-action.ts';

export interface TestFiles {
  readonly folder: string;
  readonly own: string;
  readonly notes: string;
  readonly disk: UndoableDisk;
  /** A new file with this content; its path. */
  file(content: string | Uint8Array): string;
  read(args: Record<string, unknown>): Promise<ObservationDraft>;
  write(args: Record<string, unknown>): Promise<ObservationDraft>;
  edit(command: string, path: string, args?: Record<string, unknown>): Promise<ObservationDraft<'edit'>>;
  /** The same over the same folder, as after a restart. */
  again(): TestFiles;
}

/** The file actions over a real folder that is removed after the tests of the file. */
export function testFiles(): TestFiles {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-files-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return over(folder);
}

function over(folder: string): TestFiles {
  const [own, notes] = [join(folder, '.own'), join(folder, '.writing')];
  const disk = new UndoableDisk({ hidden: [own], notes }, createUndoHistory(join(folder, '.undo')));
  const context: HandlerContext = { signal: new AbortController().signal, output: () => {}, outputPath: () => undefined };
  const handlers = {
    edit: createEditAction({ workspace: folder, disk, checkSyntax: async () => undefined }),
    read: createReadAction(folder, disk, async () => ''),
    write: createWriteAction(folder, disk),
  };
  let files = 0;
  return {
    folder,
    own,
    notes,
    disk,
    file(content) {
      const path = join(folder, `file-${(files += 1)}.txt`);
      writeFileSync(path, content);
      return path;
    },
    read: (args) => handlers.read({ args }, context),
    write: (args) => handlers.write({ args }, context),
    edit: async (command, path, args = {}) =>
      (await handlers.edit({ args: { command, path, ...args } }, context)) as ObservationDraft<'edit'>,
    again: () => over(folder),
  };
}
