import type { Match } from './find-text.ts';
import { EditFailure } from '../edit-failure.ts';
import type { TextFile } from '../text-file.ts';

/**
 * The file's bytes with one range of its text replaced. Bytes outside the range are those of the file, never re-encoded.
 * Throws `EditFailure` when the new text cannot be written in the file's encoding.
 */
export function splice(file: TextFile, range: Match, replacement: string): Buffer {
  const inserted = file.encode(replacement);
  const before = file.encode(file.text.slice(0, range.start));
  const old = file.encode(file.text.slice(range.start, range.end));
  if (!inserted)
    throw new EditFailure(`No replacement was performed. The new text cannot be written in the file's encoding, ${file.encoding}.`);
  if (!before || !old) throw new EditFailure(`No replacement was performed. The file's encoding, ${file.encoding}, is not reversible.`);
  const start = file.bom.length + before.length;
  return Buffer.concat([file.bytes.subarray(0, start), inserted, file.bytes.subarray(start + old.length)]);
}
