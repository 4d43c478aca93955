import { stat } from 'node:fs/promises';
import type { ObservationDraft } from '@tendon/protocol';
import { integerArgument, textArgument, type ActionHandler, type ActionRequest, errorObservation } from '../action-handler.ts';
import { splice, encodeUtf8, MAX_FILE_BYTES, readTextFile } from './text-file.ts';
import { failureText, EditFailure } from './failures.ts';
import { lineOffset, lineEnd, withLineEnd } from './lines.ts';
import { resolvePath } from './check-path.ts';
import type { UndoableDisk } from './edit/undoable-disk.ts';

/** `write`: a whole file, or in place of its lines `start` (0-based) to before `end`. Parent folders are made. */
export function createWriteAction(workspace: string, disk: UndoableDisk): ActionHandler {
  return async ({ args }) => {
    const path = textArgument(args, 'path');
    try {
      return await write(args, resolvePath(workspace, path), disk);
    } catch (error) {
      return errorObservation(`${path} could not be written: ${failureText(error, path)}`);
    }
  };
}

async function write(args: ActionRequest['args'], path: string, disk: UndoableDisk): Promise<ObservationDraft> {
  const content = textArgument(args, 'content');
  const start = integerArgument(args, 'start', 0);
  const end = integerArgument(args, 'end', -1);
  disk.refuseReadOnly(path);
  const found = await stat(path).catch(() => undefined);
  if (path === '' || found?.isDirectory()) throw new EditFailure(`${path} is a folder; only files can be written`);
  if (found && !found.isFile()) throw new EditFailure('it is not a regular file');
  if (!found || (start <= 0 && end === -1)) {
    const bytes = encodeUtf8(content);
    if (found && found.size > MAX_FILE_BYTES) await disk.replace(path, bytes);
    else await disk.change(path, bytes, found && (await bytesOf(disk, path)));
  } else {
    const file = await readTextFile(disk, path);
    await disk.change(path, withLines(file, content, { start, end }), file.bytes);
  }
  return { observation: 'write', content: '', extras: { path } };
}

async function bytesOf(disk: UndoableDisk, path: string): Promise<Buffer> {
  await using file = await disk.open(path);
  return await file.readFile();
}

function withLines(file: Awaited<ReturnType<typeof readTextFile>>, content: string, range: { start: number; end: number }): Buffer {
  const ending = lineEnd(file.text);
  const first = Math.max(0, range.start);
  const from = lineOffset(file.text, first);
  const to = range.end === -1 ? file.text.length : lineOffset(file.text, Math.max(first, range.end));
  const text = withLineEnd(content, ending);
  const isOpen = text !== '' && !text.endsWith('\n') && to < file.text.length;
  return splice(file, { start: from, end: to }, isOpen ? text + ending : text);
}
