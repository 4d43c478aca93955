const MAX_DIFF_MS = 500;

/** The change as a unified diff; null when it would take too long to find. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch } = await import('diff');
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, { context: 3, timeout: MAX_DIFF_MS });
  return patch?.slice(patch.indexOf('--- ')) ?? null;
}
