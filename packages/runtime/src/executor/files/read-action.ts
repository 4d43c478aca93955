import { stat } from 'node:fs/promises';
import type { ObservationDraft } from '@tendon/protocol';
import { integerArgument, textArgument, type ActionHandler, type Request } from '../action-handler.ts';
import { errorObservation, reasonOf } from '../observation.ts';
import { checkPath, failureText } from './edit-action.ts';
import { linesOf } from './lines.ts';
import { resolvePath } from './resolve-path.ts';
import { readTextFile } from './text-file.ts';
import { view } from './view.ts';

/** Longest content of one answer, in characters. */
const MAX_CONTENT = 2 * 1024 * 1024;

/** `read`: lines `start` to `end` of a file as they are, or with `impl_source` oh_aci what the editor's `view` shows. */
export function createReadAction(workspace: string): ActionHandler {
  return async ({ args }) => {
    const isView = args.impl_source === 'oh_aci';
    return isView ? viewed(args, workspace) : plain(args, workspace);
  };
}

async function viewed(args: Request['args'], workspace: string): Promise<ObservationDraft> {
  const path = textArgument(args, 'path');
  const answer = (content: string): ObservationDraft => ({ observation: 'read', content, extras: { path, impl_source: 'oh_aci' } });
  try {
    await checkPath(path, 'view', workspace);
    return answer(await view(path, args.view_range));
  } catch (error) {
    return answer(`ERROR:\n${failureText(error, path)}`);
  }
}

async function plain(args: Request['args'], workspace: string): Promise<ObservationDraft> {
  const path = textArgument(args, 'path');
  try {
    const full = resolvePath(workspace, path);
    const found = await stat(full).catch(() => undefined);
    if (!found) return errorObservation(`There is no file ${full}.`);
    if (found.isDirectory()) return errorObservation(`${full} is a folder; only files can be read.`);
    const { text } = await readTextFile(full);
    const content = section(text, integerArgument(args, 'start', 0), integerArgument(args, 'end', -1));
    if (content.length > MAX_CONTENT) return errorObservation(`${full} is too long to be read at once; give start and end.`);
    return { observation: 'read', content, extras: { path: full, impl_source: 'default' } };
  } catch (error) {
    return errorObservation(`${path} could not be read: ${failureText(error, path) || reasonOf(error)}`);
  }
}

/** Lines from `start` (0-based) to before `end`, −1 to the end; line ends are those of the file. */
function section(text: string, start: number, end: number): string {
  if (start <= 0 && end === -1) return text;
  const lines = linesOf(text).map((line) => `${line}\n`);
  if (!text.endsWith('\n') && lines.length > 0) lines.push(lines.pop()!.slice(0, -1));
  return lines.slice(Math.max(0, start), end === -1 ? undefined : Math.max(0, end)).join('');
}
