import type { Checkpoint, Checkpoints } from '@tendon/core';
import type { CheckpointChange, CheckpointComparison, CheckpointFile } from '@tendon/protocol/executor-api';

const MAX_CHECKPOINTS = 1000;
const MAX_TEXT = 4096;
const RESTORE = 'restore:';

/** An executor's `CheckpointList`, checked. Throws where it is none. */
export function checkCheckpoints(answer: unknown): Checkpoints {
  const { checkpoints, left_out: leftOut, off } = (answer ?? {}) as Record<string, unknown>;
  if (!Array.isArray(checkpoints) || checkpoints.length > MAX_CHECKPOINTS) throw new Error('the sandbox did not list its checkpoints');
  return {
    checkpoints: checkpoints.map(checkCheckpoint),
    leftOut: Array.isArray(leftOut) ? leftOut.slice(0, 20).map((path) => String(path).slice(0, MAX_TEXT)) : [],
    ...(typeof off === 'string' && { off: off.slice(0, MAX_TEXT) }),
  };
}

const MAX_CHANGES = 1000;
const CHANGES: ReadonlySet<unknown> = new Set<CheckpointChange['change']>(['added', 'changed', 'removed']);

/** An executor's `CheckpointComparison`, checked. Throws where it is none. */
export function checkComparison(answer: unknown): CheckpointComparison {
  const { count, changes } = (answer ?? {}) as Record<string, unknown>;
  if (!Number.isSafeInteger(count) || !Array.isArray(changes)) throw new Error('the sandbox did not compare the checkpoint');
  const named = changes.slice(0, MAX_CHANGES).flatMap((entry) => {
    const { path, change, lines, content } = (entry ?? {}) as Record<string, unknown>;
    if (typeof path !== 'string' || !CHANGES.has(change)) return [];
    const counted = checkLineCount(lines);
    const mark = typeof content === 'string' && /^[\w+/=-]{1,64}$/.test(content) && { content };
    return [{ path: path.slice(0, MAX_TEXT), change: change as CheckpointChange['change'], ...(counted && { lines: counted }), ...mark }];
  });
  return { count: Math.max(count as number, named.length), changes: named };
}

function checkLineCount(lines: unknown): CheckpointChange['lines'] {
  const { added, removed } = (lines ?? {}) as Record<string, unknown>;
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount(added) && isCount(removed) ? { added, removed } : undefined;
}

/** An executor's `CheckpointFile`, checked. Throws where it is none. */
export function checkCheckpointFile(answer: unknown): CheckpointFile {
  const { state, content, target } = (answer ?? {}) as Record<string, unknown>;
  if (state === 'file' && typeof content === 'string') return { state, content };
  if (state === 'link' && typeof target === 'string') return { state, target: target.slice(0, MAX_TEXT) };
  if (state === 'left' || state === 'too-large' || state === 'folder' || state === 'absent') return { state };
  throw new Error('the sandbox did not say what the file was');
}

function checkCheckpoint(entry: unknown): Checkpoint {
  const { number, key, at, files } = (entry ?? {}) as Record<string, unknown>;
  if (![number, at, files].every((value) => Number.isSafeInteger(value) && (value as number) >= 0) || typeof key !== 'string')
    throw new Error('the sandbox listed a checkpoint that is none');
  const isOfRestore = key.startsWith(RESTORE);
  // As SandboxRuntime makes them: conversation, epoch where there is one, and the action.
  const [action = '', epoch, ...conversation] = (isOfRestore ? key.slice(RESTORE.length) : key).split(':').toReversed();
  return {
    ...{ number: number as number, at: at as number, files: files as number, isOfRestore },
    actionId: /^\d{1,15}$/.test(action) ? Number(action) : Number.MAX_SAFE_INTEGER,
    epoch: conversation.length > 0 ? epoch : undefined,
  };
}
