import { stat } from 'node:fs/promises';
import { splice, decodeText, encodeUtf8, readTextFile } from '../text-file.ts';
import { EditFailure } from '../failures.ts';
import { closestLines, findText, type Match } from './find-text.ts';
import { lineOffset, lineEnd, linesOf, shownText, withLineEnd, numbered } from '../lines.ts';
import type { UndoableDisk } from './undoable-disk.ts';

export interface EditResult {
  readonly content: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface EditRequest {
  readonly path: string;
  readonly fileText: string | undefined;
  readonly oldText: string | undefined;
  readonly newText: string | undefined;
  readonly insertLine: number | undefined;
  readonly edits: readonly { readonly oldText: string; readonly newText: string }[];
}

type EditCommand = (request: EditRequest, disk: UndoableDisk) => Promise<EditResult>;

const CONTEXT_LINES = 4;
const REVIEW = 'Review the changes and make sure they are as expected. Edit the file again if necessary.';

/** The commands of `str_replace_editor` that change a file. Each either changes it wholly or throws and changes nothing. */
export const EDIT_COMMANDS = {
  create,
  str_replace: strReplace,
  multi_edit: multiEdit,
  insert,
  undo_edit: undoEdit,
  write,
} as const satisfies Record<string, EditCommand>;

async function create({ path, fileText }: EditRequest, disk: UndoableDisk): Promise<EditResult> {
  const text = required(fileText, 'file_text', 'create');
  if (await exists(path)) {
    throw new EditFailure(`${path} exists already. create makes new files only; str_replace and insert change this one.`);
  }
  await disk.change(path, encodeUtf8(text), undefined);
  return { content: `File created successfully at: ${path}`, before: null, after: text };
}

async function strReplace({ path, oldText, newText }: EditRequest, disk: UndoableDisk): Promise<EditResult> {
  const wanted = required(oldText, 'old_str', 'str_replace');
  const replacement = newText ?? '';
  if (wanted === replacement) throw new EditFailure('Nothing was replaced: old_str and new_str are the same.');
  if (wanted === '') throw new EditFailure('Nothing was replaced: old_str is empty.');
  const file = await readTextFile(disk, path);
  const { match, text } = onlyMatch(file.text, wanted, replacement, path);
  const inserted = withLineEnd(text, lineEnd(file.text));
  const bytes = splice(file, match, inserted);
  const after = await textOf(bytes);
  await disk.change(path, bytes, file.bytes);
  const firstLine = lineNumber(file.text, match.start);
  const content = snippet(path, after, firstLine, firstLine + countLineEnds(inserted), path);
  return { content: `${content}${REVIEW}`, before: file.text, after };
}

/** Each on what the ones before left, and all or none. */
async function multiEdit({ path, edits }: EditRequest, disk: UndoableDisk): Promise<EditResult> {
  if (edits.length === 0) throw new EditFailure('multi_edit needs the parameter edits, a list of old_str and new_str.');
  const file = await readTextFile(disk, path);
  let edited = file;
  for (const [index, { oldText, newText }] of edits.entries()) {
    try {
      if (oldText === '' || oldText === newText) throw new EditFailure('Nothing was replaced: old_str is empty, or new_str is the same.');
      const { match, text } = onlyMatch(edited.text, oldText, newText, path);
      edited = await decodeText(splice(edited, match, withLineEnd(text, lineEnd(edited.text))));
    } catch (error) {
      if (!(error instanceof EditFailure)) throw error;
      throw new EditFailure(`Edit ${index + 1} of ${edits.length} cannot be made, so none was. ${error.message}`);
    }
  }
  await disk.change(path, edited.bytes, file.bytes);
  return { content: `The file ${path} has been edited in ${edits.length} places. ${REVIEW}`, before: file.text, after: edited.text };
}

async function insert({ path, insertLine, newText }: EditRequest, disk: UndoableDisk): Promise<EditResult> {
  if (insertLine === undefined) throw missing('insert_line', 'insert');
  const added = required(newText, 'new_str', 'insert');
  const file = await readTextFile(disk, path);
  const count = linesOf(file.text).length;
  if (insertLine < 0 || insertLine > count) {
    throw new EditFailure(`insert_line is ${insertLine}; it must be from 0 to ${count}.`);
  }
  const end = lineEnd(file.text);
  const offset = lineOffset(file.text, insertLine);
  const needsBreak = offset > 0 && file.text[offset - 1] !== '\n';
  const text = withLineEnd(added, end);
  const isLast = offset === file.text.length;
  const inserted = (needsBreak ? end : '') + text + (isLast && needsBreak ? '' : end);
  const bytes = splice(file, { start: offset, end: offset }, inserted);
  const after = await textOf(bytes);
  await disk.change(path, bytes, file.bytes);
  const content = snippet(path, after, insertLine + 1, insertLine + 1 + countLineEnds(text), 'the edited file');
  return { content: `${content}${REVIEW}`, before: file.text, after };
}

/** The whole file, whether it exists or not. */
async function write({ path, fileText }: EditRequest, disk: UndoableDisk): Promise<EditResult> {
  const text = required(fileText, 'file_text', 'write');
  const before = (await exists(path)) ? await readTextFile(disk, path) : undefined;
  await disk.change(path, encodeUtf8(text), before?.bytes);
  return { content: `File written successfully at: ${path}`, before: before?.text ?? null, after: text };
}

async function undoEdit({ path }: EditRequest, disk: UndoableDisk): Promise<EditResult> {
  const current = (await exists(path)) ? await readTextFile(disk, path) : undefined;
  const restored = await disk.undo(path, current?.bytes);
  if (restored === undefined) throw new EditFailure(`There is no edit of ${path} to undo.`);
  const before = current?.text ?? null;
  const done = `The last edit of ${path} was undone.`;
  if (restored === null) return { content: `${done} The file did not exist before it and was removed.`, before, after: null };
  const after = await textOf(restored).catch(() => null); // it may have been binary
  return { content: after === null ? done : `${done} ${numbered(shownText(after), path)}`, before, after };
}

/** The one place where the text stands. Space around it that the model made up is forgiven when what is left is unique. */
function onlyMatch(text: string, wanted: string, replacement: string, path: string): { match: Match; text: string } {
  const found = findText(text, wanted);
  const [match] = found;
  if (match && found.length === 1) return { match, text: replacement };
  const trimmed = wanted.trim();
  const loose = found.length === 0 && trimmed !== '' && trimmed !== wanted ? findText(text, trimmed) : [];
  if (loose.length === 1 && loose[0]) return { match: loose[0], text: replacement.trim() };
  const all = found.length > 0 ? found : loose;
  if (all.length === 0)
    throw new EditFailure(`Nothing was replaced: ${path} does not contain old_str \`${quoted(wanted)}\`.${closestLines(text, wanted)}`);
  const lines = [...new Set(all.map(({ start }) => lineNumber(text, start)))].join(', ');
  throw new EditFailure(
    `Nothing was replaced: old_str \`${quoted(wanted)}\` stands more than once in ${path}, at lines ${lines}. Take in lines around it until it stands once.`,
  );
}

const MAX_QUOTED_CHARS = 2000;

function quoted(text: string): string {
  return text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text;
}

/** What an edited file will read as; an edit after which it is no text any more is not made. */
async function textOf(bytes: Buffer): Promise<string> {
  return (await decodeText(bytes)).text;
}

/** Lines `first`–`last` of the text with four lines before and after them. */
function snippet(path: string, text: string, first: number, last: number, title: string): string {
  const start = Math.max(1, first - CONTEXT_LINES);
  const shown = shownText(text)
    .split('\n')
    .slice(start - 1, last + CONTEXT_LINES)
    .join('\n');
  return `The file ${path} has been edited. ${numbered(shown, title === path ? `a snippet of ${path}` : `a snippet of ${title}`, start)}`;
}

function lineNumber(text: string, offset: number): number {
  return countLineEnds(text.slice(0, offset)) + 1;
}

function countLineEnds(text: string): number {
  return text.split('\n').length - 1;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

function required(value: string | undefined, name: string, command: string): string {
  if (value === undefined) throw missing(name, command);
  return value;
}

function missing(name: string, command: string): EditFailure {
  return new EditFailure(`${command} needs the parameter ${name}.`);
}
