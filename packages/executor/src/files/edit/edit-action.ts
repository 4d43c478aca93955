import { stat } from 'node:fs/promises';
import { Mutex } from '@tendon/protocol/async';
import type { ObservationDraft } from '@tendon/protocol';
import { textArgument, type ActionHandler, type ActionRequest, integerArgument } from '../../action-handler.ts';
import { checkPath } from '../check-path.ts';
import { EditFailure, failureText } from '../failures.ts';
import { EDIT_COMMANDS, type EditRequest } from './editor.ts';
import type { UndoableDisk } from './undoable-disk.ts';
import { patchFiles } from './patch-files.ts';
import { view } from '../view.ts';
import { splice, decodeText, encodeUtf8, readTextFile, type TextFile } from '../text-file.ts';
import { lineOffset, lineEnd, linesOf, withLineEnd } from '../lines.ts';
import { versionOf } from './lines-to-edit.ts';
import type { SyntaxCheck } from './syntax-check.ts';

interface EditActionOptions {
  readonly workspace: string;
  readonly disk: UndoableDisk;
  readonly checkSyntax: SyntaxCheck;
}

type EditObservation = ObservationDraft<'edit'>;

/** Contents travel with the observation up to a length; beyond it the diff says what changed. */
const MAX_CONTENT = 1024 * 1024;

const MAX_DIFF_MS = 500;
const MAX_DIFF_CHARS = 1024 * 1024;

const COMMANDS = ['view', ...Object.keys(EDIT_COMMANDS)];

/** `edit`: the editor tool. Failures are observations of the same kind whose content begins with `ERROR:`. */
export function createEditAction(options: EditActionOptions): ActionHandler {
  const mutex = new Mutex(); // each edit reads what the one before wrote

  return ({ args }) => {
    const isDrafted = args.impl_source === 'llm_based_edit';
    return mutex.run(() => {
      if (isDrafted) return draftedEdit(args, options);
      return args.command === 'apply_patch' ? applyPatch(args, options) : edit(args, options.workspace, options.disk);
    });
  };
}

async function edit(args: ActionRequest['args'], workspace: string, disk: UndoableDisk): Promise<ObservationDraft<'edit'>> {
  const path = textArgument(args, 'path');
  const command = textArgument(args, 'command');
  const answer = (content: string, isThere?: boolean): ObservationDraft<'edit'> => unchanged(path, 'oh_aci', content, isThere);
  try {
    if (!COMMANDS.includes(command)) {
      const wrong = command === '' ? 'The command is missing' : `There is no command ${command}`;
      throw new EditFailure(`${wrong}; there are ${COMMANDS.join(', ')}.`);
    }
    if (command !== 'view') disk.refuseReadOnly(path);
    await checkPath(path, command, workspace);
    if (command === 'view') return answer(await view(disk, path, args.view_range), true);
    return await editObservation(path, 'oh_aci', await EDIT_COMMANDS[command as keyof typeof EDIT_COMMANDS](requestOf(args), disk));
  } catch (error) {
    return answer(`ERROR:\n${failureText(error, path)}`);
  }
}

function requestOf(args: ActionRequest['args']): EditRequest {
  const text = (name: string): string | undefined => (typeof args[name] === 'string' ? args[name] : undefined);
  const line = args.insert_line;
  return {
    path: textArgument(args, 'path'),
    edits: editsOf(args.edits),
    fileText: text('file_text'),
    oldText: text('old_str'),
    newText: text('new_str'),
    insertLine: typeof line === 'number' && Number.isInteger(line) ? line : undefined,
  };
}

function editsOf(given: unknown): EditRequest['edits'] {
  if (!Array.isArray(given)) return [];
  return given.map((each: { readonly old_str?: unknown; readonly new_str?: unknown } | null) => ({
    oldText: typeof each?.old_str === 'string' ? each.old_str : '',
    newText: typeof each?.new_str === 'string' ? each.new_str : '',
  }));
}

/** `edit` with the command `apply_patch`: one observation for all files, whose path is that of the first. */
async function applyPatch(args: ActionRequest['args'], { workspace, disk }: EditActionOptions): Promise<ObservationDraft<'edit'>> {
  const path = textArgument(args, 'path');
  try {
    const changes = await patchFiles(textArgument(args, 'patch'), workspace, disk);
    const done = await Promise.all(
      changes.map((change) =>
        editObservation(change.path, 'oh_aci', { content: '', before: change.before?.text ?? null, after: change.after?.text ?? null }),
      ),
    );
    const list = changes.map(({ path: name, before, after }) => `${before ? (after ? 'M' : 'D') : 'A'} ${name}`);
    const content = `The patch was applied:\n${list.join('\n')}`;
    if (done.length === 1) return { ...done[0]!, content };
    const diffs = done.map(({ extras }) => extras.diff);
    const whole = diffs.includes(null) ? '' : diffs.join('\n');
    const diff = whole === '' || whole.length > MAX_DIFF_CHARS ? null : whole;
    const { extras } = done[0]!;
    return { observation: 'edit', content, extras: { ...extras, old_content: null, new_content: null, diff } };
  } catch (error) {
    return unchanged(path, 'oh_aci', `ERROR:\nThe patch was not applied, to no file. ${failureText(error, path)}`);
  }
}

/**
 * `edit` with `impl_source: llm_based_edit`, as the host sends it: with the lines that a model wrote out, and the version of the
 * file that they were written for. What parsed before and would not parse after is not written.
 */
async function draftedEdit(args: ActionRequest['args'], options: EditActionOptions): Promise<ObservationDraft<'edit'>> {
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

function changed(file: TextFile, args: ActionRequest['args']): Buffer {
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

function draftedOf({ drafted }: ActionRequest['args']): { readonly text: string; readonly version: string } {
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

/** An answer without a change: what was seen, or why nothing was done. */
function unchanged(path: string, source: EditObservation['extras']['impl_source'], content: string, isThere = false): EditObservation {
  const nothing = { old_content: null, new_content: null, diff: null };
  return { observation: 'edit', content, extras: { path, prev_exist: isThere, ...nothing, impl_source: source } };
}

/** An answer with a change; null where there is no file. */
async function editObservation(
  path: string,
  source: EditObservation['extras']['impl_source'],
  { content, before, after }: { readonly content: string; readonly before: string | null; readonly after: string | null },
): Promise<EditObservation> {
  const diff = await unifiedDiff(path, before ?? '', after ?? '');
  const contents = { prev_exist: before !== null, old_content: withinBound(before), new_content: withinBound(after) };
  return { observation: 'edit', content, extras: { path, ...contents, impl_source: source, diff } };
}

function withinBound(text: string | null): string | null {
  return text !== null && text.length > MAX_CONTENT ? null : text;
}

/** The change as a unified diff; null when it would take too long to find, or would be too long. */
async function unifiedDiff(path: string, before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch } = await import('diff');
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, { context: 3, timeout: MAX_DIFF_MS });
  return patch === undefined || patch.length > MAX_DIFF_CHARS ? null : patch.slice(patch.indexOf('--- '));
}
