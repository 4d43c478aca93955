import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { LineRange, LinesToEdit } from '@tendon/protocol/executor-api';
import type { Disk } from '../disk.ts';
import { checkPath } from '../check-path.ts';
import { failureText } from '../failures.ts';
import { lineOffset, linesOf } from '../lines.ts';
import { readTextFile } from '../text-file.ts';

export type LinesToEditOf = (path: string, range: LineRange) => Promise<LinesToEdit>;

/** A model copies every line that stays, so more would be slow, dear and wrong. */
const MAX_DRAFTED_LINES = 300;

/** Which lines an edit that a model writes out is about. Reads only. */
export function createLinesToEdit(workspace: string, disk: Disk): LinesToEditOf {
  return async (path, range) => {
    try {
      disk.refuseReadOnly(path);
      await checkPath(path, 'write', workspace); // a file may be new
      const isThere = (await stat(path).catch(() => undefined)) !== undefined;
      if (!isThere || range.start === -1) return { state: 'none' };
      const { text, bytes } = await readTextFile(disk, path);
      const count = linesOf(text).length;
      if (count === 0) return { state: 'none' };
      const [first, last] = [range.start, range.end === -1 ? count : range.end];
      const reason = refusal(first, last, count);
      if (reason !== undefined) return { state: 'refused', reason };
      return {
        state: 'lines',
        text: text.slice(lineOffset(text, first - 1), lineOffset(text, last)),
        first,
        last,
        version: versionOf(bytes),
      };
    } catch (error) {
      return { state: 'refused', reason: failureText(error, path) };
    }
  };
}

/** Names a content: an edit that was drafted for one is made to no other. */
export function versionOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function refusal(first: number, last: number, count: number): string | undefined {
  const range = `start is ${first} and end is ${last}, and the file has ${count} lines`;
  if (!Number.isInteger(first) || !Number.isInteger(last) || first < 1 || last < first || last > count)
    return `${range}: start must be from 1 to ${count}, end from start to ${count} or -1 for the end; start -1 appends.`;
  if (last - first + 1 > MAX_DRAFTED_LINES)
    return `${range}: that is ${last - first + 1} lines, and at most ${MAX_DRAFTED_LINES} are edited at once. Give a smaller start and end.`;
  return undefined;
}
