import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ObservationDraft } from '@tendon/protocol';
import { integerArgument, textArgument, type ActionHandler, type Request } from '../action-handler.ts';
import { errorObservation } from '../observation.ts';
import { splice } from './change.ts';
import { failureText } from './edit-action.ts';
import { EditFailure } from './edit-failure.ts';
import { lineEnd, withLineEnd } from './lines.ts';
import { resolvePath } from './resolve-path.ts';
import { encodeUtf8, MAX_FILE_BYTES, readTextFile } from './text-file.ts';
import type { UndoHistory } from './undo-history.ts';
import { writeAtomically } from './write-atomically.ts';

/** `write`: a whole file, or in place of its lines `start` (0-based) to before `end`. Parent folders are made. */
export function createWriteAction(workspace: string, undo: UndoHistory): ActionHandler {
  return async ({ args }) => {
    const path = textArgument(args, 'path');
    try {
      return await write(args, resolvePath(workspace, path), undo);
    } catch (error) {
      return errorObservation(`${path} could not be written: ${failureText(error, path)}`);
    }
  };
}

async function write(args: Request['args'], path: string, undo: UndoHistory): Promise<ObservationDraft> {
  const content = textArgument(args, 'content');
  const start = integerArgument(args, 'start', 0);
  const end = integerArgument(args, 'end', -1);
  const found = await stat(path).catch(() => undefined);
  if (path === '' || found?.isDirectory()) throw new EditFailure(`${path} is a folder; only files can be written`);
  if (found && !found.isFile()) throw new EditFailure('it is not a regular file');
  await mkdir(dirname(path), { recursive: true });
  const isWhole = !found || (start <= 0 && end === -1);
  const bytes = isWhole ? encodeUtf8(content) : await withLines(path, content, start, end);
  if (!found || found.size <= MAX_FILE_BYTES) await undo.push(path, found ? await readFile(path) : undefined);
  await writeAtomically(path, bytes);
  return { observation: 'write', content: '', extras: { path } };
}

async function withLines(path: string, content: string, start: number, end: number): Promise<Buffer> {
  const file = await readTextFile(path);
  const ending = lineEnd(file.text);
  const from = offsetOfLine(file.text, Math.max(0, start));
  const to = end === -1 ? file.text.length : offsetOfLine(file.text, Math.max(start, end));
  const text = withLineEnd(content, ending);
  const isOpen = text !== '' && !text.endsWith('\n') && to < file.text.length;
  return splice(file, { start: from, end: to }, isOpen ? text + ending : text);
}

function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let count = 0; count < line; count += 1) {
    const end = text.indexOf('\n', offset);
    if (end < 0) return text.length;
    offset = end + 1;
  }
  return offset;
}
