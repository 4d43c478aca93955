import { stat } from 'node:fs/promises';
import type { ObservationDraft } from '@tendon/protocol';
import { integerArgument, textArgument, type ActionHandler, type ActionRequest, errorObservation } from '../action-handler.ts';
import type { Disk } from './disk.ts';
import { checkPath, outputPath, resolvePath } from './check-path.ts';
import { failureText } from './failures.ts';
import { lineOffset, linesOfHugeFile } from './lines.ts';
import { readMedia } from './content-type.ts';
import { decodeText, MAX_FILE_BYTES } from './text-file.ts';
import type { SearchFiles } from './search/search-files.ts';
import { view } from './view.ts';

/** Longest content of one answer, in characters. */
const MAX_CONTENT = 2 * 1024 * 1024;

/**
 * `read`: lines `start` to `end` of a file as they are, with `impl_source` oh_aci what the editor's `view` shows, with `search` what is found
 * at the path.
 */
export function createReadAction(workspace: string, disk: Disk, searchFiles: SearchFiles): ActionHandler {
  return ({ args }, { signal }) => {
    if (isSearch(args.search)) return searched(args, args.search, { workspace, searchFiles, signal });
    return args.impl_source === 'oh_aci' ? viewed(args, workspace, disk) : plain(args, workspace, disk);
  };
}

type Search = Parameters<SearchFiles>[1];

function isSearch(given: unknown): given is Search {
  const { kind, pattern, include } = (given ?? {}) as Partial<Search>;
  return (kind === 'grep' || kind === 'glob') && typeof pattern === 'string' && (include === undefined || typeof include === 'string');
}

async function searched(
  args: ActionRequest['args'],
  search: Search,
  { workspace, searchFiles, signal }: { readonly workspace: string; readonly searchFiles: SearchFiles; readonly signal: AbortSignal },
): Promise<ObservationDraft> {
  const path = textArgument(args, 'path');
  const answer = (content: string): ObservationDraft => ({
    observation: 'read',
    content,
    extras: { path, impl_source: 'default', search },
  });
  try {
    return answer(await searchFiles(resolvePath(workspace, path), search, signal));
  } catch (error) {
    return answer(`ERROR:\n${failureText(error, path)}`);
  }
}

async function viewed(args: ActionRequest['args'], workspace: string, disk: Disk): Promise<ObservationDraft> {
  const named = textArgument(args, 'path');
  const path = outputPath(named) ?? named;
  const answer = (content: string): ObservationDraft => ({ observation: 'read', content, extras: { path, impl_source: 'oh_aci' } });
  try {
    await checkPath(path, 'view', workspace);
    return answer(await view(disk, path, args.view_range));
  } catch (error) {
    return answer(`ERROR:\n${failureText(error, path)}`);
  }
}

async function plain(args: ActionRequest['args'], workspace: string, disk: Disk): Promise<ObservationDraft> {
  const path = textArgument(args, 'path');
  try {
    const full = resolvePath(workspace, path);
    const found = await stat(full).catch(() => undefined);
    if (!found) return errorObservation(`There is no file ${full}.`);
    if (found.isDirectory()) return errorObservation(`${full} is a folder; only files can be read.`);
    const content = await contentOf(disk, full, integerArgument(args, 'start', 0), integerArgument(args, 'end', -1));
    return { observation: 'read', content, extras: { path: full, impl_source: 'default' } };
  } catch (error) {
    return errorObservation(`${path} could not be read: ${failureText(error, path)}`);
  }
}

/** Lines from `start` (0-based) to before `end`, −1 to the end, with the file's own line ends; an image or a PDF as a data URL. */
async function contentOf(disk: Disk, path: string, start: number, end: number): Promise<string> {
  await using file = await disk.open(path);
  const media = await readMedia(file);
  if (media !== undefined) return media;
  const [from, to] = [Math.max(0, start), end === -1 ? Infinity : Math.max(0, end)];
  if (from >= to) return '';
  if ((await file.stat()).size > MAX_FILE_BYTES) {
    const { text, isClipped } = await linesOfHugeFile(file, from + 1, to, MAX_CONTENT);
    return isClipped ? text + CLIPPED : text;
  }
  const { text } = await decodeText(await file.readFile());
  const content = text.slice(lineOffset(text, from), to === Infinity ? undefined : lineOffset(text, to));
  return content.length > MAX_CONTENT ? content.slice(0, MAX_CONTENT) + CLIPPED : content;
}

const CLIPPED = `\n[Clipped after ${MAX_CONTENT} characters. Read the rest with start and end, which count lines from 0.]`;
