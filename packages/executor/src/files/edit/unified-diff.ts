const MAX_DIFF_MS = 500;
const MAX_DIFF_CHARS = 1024 * 1024;

/** The change as a unified diff; null when it would take too long to find, or would be too long. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch } = await import('diff');
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, { context: 3, timeout: MAX_DIFF_MS });
  return patch === undefined || patch.length > MAX_DIFF_CHARS ? null : patch.slice(patch.indexOf('--- '));
}
