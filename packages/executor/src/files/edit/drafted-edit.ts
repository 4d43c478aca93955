import { stat } from 'node:fs/promises';
import type { ObservationDraft } from '@tendon/protocol';
import { integerArgument, textArgument, type Request } from '../../action-handler.ts';
import { splice } from './change.ts';
import { checkPath } from '../check-path.ts';
import { EditFailure } from '../edit-failure.ts';
import { editObservation, unchanged } from './edit-observation.ts';
import { failureText } from '../failure-text.ts';
import { lineOffset } from '../line-offset.ts';
import { lineEnd, linesOf, withLineEnd } from '../lines.ts';
import { versionOf } from './lines-to-edit.ts';
import { decodeText, encodeUtf8, readTextFile, type TextFile } from '../text-file.ts';
import type { SyntaxCheck } from './syntax-check.ts';
import type { UndoableDisk } from './undoable-disk.ts';

export interface DraftedEditOptions {
  readonly workspace: string;
  readonly disk: UndoableDisk;
  readonly checkSyntax: SyntaxCheck;
}

/**
 * `edit` with `impl_source: llm_based_edit`, as the host sends it: with the lines that a model wrote out, and the version of the
 * file that they were written for. What parsed before and would not parse after is not written.
 */
export async function draftedEdit(args: Request['args'], options: DraftedEditOptions): Promise<ObservationDraft<'edit'>> {
  const path = textArgument(args, 'path');
  try {
    options.disk.refuseReadOnly(path);
    await checkPath(path, 'write', options.workspace);
    const found = await stat(path).catch(() => undefined);
    const file = found && (await readTextFile(options.disk, path));
    const bytes = file ? changed(file, args) : encodeUtf8(textArgument(args, 'content'));
    const [before, after] = [file?.text ?? null, (await decodeText(bytes)).text];
    const content = file ? `The file ${path} has been edited:` : `File created successfully at: ${path}`;
    const done = await editObservation(path, 'llm_based_edit', { content, before, after });
    const diff = done.extras.diff ?? '';
    const fault = before === null ? undefined : await newFault(options.checkSyntax, path, { before, after });
    if (fault !== undefined) throw new EditFailure(refusal(fault, diff));
    await options.disk.change(path, bytes, file?.bytes);
    return file ? { ...done, content: `${content}\n${diff}` } : done;
  } catch (error) {
    return unchanged(path, 'llm_based_edit', `ERROR:\n${failureText(error, path)}`);
  }
}

function changed(file: TextFile, args: Request['args']): Buffer {
  const start = integerArgument(args, 'start', 1);
  const count = linesOf(file.text).length;
  const end = lineEnd(file.text);
  if (start === -1 || count === 0) {
    const lead = file.text === '' || file.text.endsWith('\n') ? '' : end;
    return splice(file, { start: file.text.length, end: file.text.length }, lead + withLineEnd(textArgument(args, 'content'), end));
  }
  const { text, version } = draftedOf(args);
  if (version !== versionOf(file.bytes))
    throw new EditFailure('It was not edited: it was changed while the edit was written out. Try again.');
  const last = integerArgument(args, 'end', -1);
  const range = { start: lineOffset(file.text, start - 1), end: lineOffset(file.text, last === -1 ? count : last) };
  const isClosed = file.text.slice(range.start, range.end).endsWith('\n');
  const lines = withLineEnd(text, end);
  return splice(file, range, isClosed || !lines.endsWith('\n') ? lines : lines.replace(/\r?\n$/, ''));
}

function draftedOf({ drafted }: Request['args']): { readonly text: string; readonly version: string } {
  const { text, version } = (drafted ?? {}) as { readonly text?: unknown; readonly version?: unknown };
  if (typeof text === 'string' && typeof version === 'string') return { text, version };
  throw new EditFailure('It was not edited: no model wrote the edit out. Use the command str_replace, insert or create.');
}

async function newFault(
  check: SyntaxCheck,
  path: string,
  { before, after }: { before: string; after: string },
): Promise<string | undefined> {
  const fault = await check(path, after);
  return fault !== undefined && (await check(path, before)) === undefined ? fault : undefined;
}

function refusal(fault: string, diff: string): string {
  return `It was not edited: after the edit it would not parse any more.\n${fault}\nThe edit would have been:\n${diff}`;
}
