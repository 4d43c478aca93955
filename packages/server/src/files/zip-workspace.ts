import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { ZipFile } from 'yazl';
import { withDeadline } from '@tendon/protocol/async';
import type { Workspace } from '../sandboxes/workspace-of.ts';
import { workspaceEntries, type WorkspaceEntry } from './workspace-entries.ts';

const MAX_ZIP_FILE_BYTES = 256 * 1024 * 1024;
const MAX_ZIP_BYTES = 4 * 1024 * 1024 * 1024;
const MAX_ZIP_ENTRIES = 50_000;
const READ_MS = 120_000;
/** Added in one round of the event loop. */
const ENTRIES_AT_ONCE = 500;

/**
 * The workspace as a zip, made while it is sent: one file at a time is in memory. Links are left out, so nothing of outside gets in;
 * so are names that would lead out where it is unpacked. `folder` = only that one, relative or absolute. Rejects with an Error that
 * can be shown when it is too large.
 */
export async function zipWorkspace(workspace: Workspace, now: Date, folder = '.'): Promise<Readable> {
  const { entries, isCut } = await workspaceEntries(workspace, folder, { withHidden: true, maxEntries: MAX_ZIP_ENTRIES, now });
  const wanted = entries.filter(({ type, path }) => (type === 'file' || type === 'directory') && isSafeName(path));
  const bytes = wanted.reduce((sum, { type, size }) => sum + (type === 'file' ? size : 0), 0);
  const tooLarge = wanted.find(({ type, size }) => type === 'file' && size > MAX_ZIP_FILE_BYTES);
  if (tooLarge) throw new Error(`more than ${MAX_ZIP_FILE_BYTES} bytes: ${tooLarge.path}`);
  if (isCut || bytes > MAX_ZIP_BYTES) {
    throw new Error(`more than ${MAX_ZIP_BYTES} bytes or ${MAX_ZIP_ENTRIES} entries`);
  }
  return zipped(workspace, folder, wanted);
}

function zipped(workspace: Workspace, folder: string, entries: readonly WorkspaceEntry[]): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (cause: Error) => output.destroy(cause));
  addAll(zip, workspace, folder, entries).catch((cause: unknown) => output.destroy(cause as Error));
  return output;
}

async function addAll(zip: ZipFile, { runtime }: Workspace, folder: string, entries: readonly WorkspaceEntry[]): Promise<void> {
  for (const [index, { path, type }] of entries.entries()) {
    if (index % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1) await nextRound();
    if (type === 'directory') zip.addEmptyDirectory(path);
    else {
      zip.addReadStreamLazy(path, {}, (done) => {
        const maxBytes = MAX_ZIP_FILE_BYTES;
        const read = withDeadline(READ_MS, (signal) => runtime.files.read(posix.join(folder, path), { signal, maxBytes }));
        read.then(
          (bytes) => done(null, Readable.from([Buffer.from(bytes)])),
          // Gone since it was listed, or not readable: the others are worth having.
          () => done(null, Readable.from([])),
        );
      });
    }
  }
  zip.end();
}

/** Unpackers of other systems take `\` for `/` and `C:` for a drive. */
function isSafeName(path: string): boolean {
  return !path.includes('\\') && !/^[a-z]:/i.test(path) && !path.split('/').includes('..');
}
