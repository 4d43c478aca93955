import { stat } from 'node:fs/promises';
import { EditFailure } from '../failures.ts';
import { resolvePath } from '../check-path.ts';
import { lineEnd, lineOffset, withLineEnd } from '../lines.ts';
import { decodeText, encodeUtf8, readTextFile, splice } from '../text-file.ts';
import { placeHunks } from './apply-hunks.ts';
import { parsePatch, type FilePatch } from './parse-patch.ts';
import type { UndoableDisk } from './undoable-disk.ts';

/** What a patch makes of one file; `bytes` or `text` is undefined where there is none. */
export interface FileChange {
  readonly path: string;
  readonly before: { readonly bytes: Buffer; readonly text: string } | undefined;
  readonly after: { readonly bytes: Buffer; readonly text: string } | undefined;
}

/**
 * Applies a patch to all its files or to none: everything is computed before the first file is written, and what was written is taken
 * back when a later file cannot be. Throws `EditFailure`.
 */
export async function patchFiles(patch: string, workspace: string, disk: UndoableDisk): Promise<readonly FileChange[]> {
  const changes: FileChange[] = [];
  for (const file of parsePatch(patch)) {
    for (const change of await changesBy(file, workspace, disk)) {
      if (changes.some(({ path }) => path === change.path)) throw new EditFailure(`${change.path} is in the patch twice.`);
      changes.push(change);
    }
  }
  await makeAll(changes, disk);
  return changes;
}

async function changesBy(file: FilePatch, workspace: string, disk: UndoableDisk): Promise<readonly FileChange[]> {
  const path = resolvePath(workspace, file.path);
  disk.refuseReadOnly(path);
  const isThere = await exists(path);
  if (file.op === 'add') {
    if (isThere) throw new EditFailure(`${path} exists already: change it with *** Update File.`);
    return [{ path, before: undefined, after: { bytes: encodeUtf8(file.text), text: file.text } }];
  }
  if (!isThere) throw new EditFailure(`There is no file ${path}.`);
  const before = await readTextFile(disk, path);
  if (file.op === 'delete') return [{ path, before, after: undefined }];
  const after = await patched(before, file, path);
  if (file.movedTo === undefined) return [{ path, before, after }];
  const movedTo = resolvePath(workspace, file.movedTo);
  disk.refuseReadOnly(movedTo);
  if (await exists(movedTo)) throw new EditFailure(`${movedTo} exists already: ${path} cannot be moved there.`);
  return [
    { path: movedTo, before: undefined, after },
    { path, before, after: undefined },
  ];
}

async function patched(before: Awaited<ReturnType<typeof decodeText>>, { hunks }: Extract<FilePatch, { op: 'update' }>, path: string) {
  const end = lineEnd(before.text);
  let file = before;
  // From the last to the first, so that the lines before a change keep their places.
  for (const { start, end: last, lines } of placeHunks(before.text, hunks, path).toReversed()) {
    const range = { start: lineOffset(file.text, start), end: lineOffset(file.text, last) };
    const isOpen = range.end === file.text.length && file.text !== '' && !file.text.endsWith('\n');
    const lead = isOpen && range.start === range.end ? end : '';
    const text = lines.map((line) => `${line}${end}`).join('');
    const isClosedNow = isOpen && text.endsWith(end) ? text.slice(0, -end.length) : text;
    file = await decodeText(splice(file, range, withLineEnd(lead + isClosedNow, end)));
  }
  return file;
}

async function makeAll(changes: readonly FileChange[], disk: UndoableDisk): Promise<void> {
  const made: FileChange[] = [];
  try {
    for (const change of changes) {
      if (change.after) await disk.change(change.path, change.after.bytes, change.before?.bytes);
      else await disk.takeAway(change.path, change.before!.bytes);
      made.push(change);
    }
  } catch (error) {
    for (const { path, after } of made.toReversed()) await disk.undo(path, after?.bytes);
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
