import type { ObservationDraft } from '@tendon/protocol';

type EditObservation = ObservationDraft<'edit'>;

/** Contents travel with the observation up to a length; beyond it the diff says what changed. */
const MAX_CARRIED = 1024 * 1024;

const MAX_DIFF_MS = 500;
const MAX_DIFF_CHARS = 1024 * 1024;

/** An answer that tells of no change: what was seen, or why nothing was done. */
export function unchanged(
  path: string,
  source: EditObservation['extras']['impl_source'],
  content: string,
  isThere = false,
): EditObservation {
  const nothing = { old_content: null, new_content: null, diff: null };
  return { observation: 'edit', content, extras: { path, prev_exist: isThere, ...nothing, impl_source: source } };
}

/** An answer that tells of a change; null where there is no file. */
export async function editObservation(
  path: string,
  source: EditObservation['extras']['impl_source'],
  { content, before, after }: { readonly content: string; readonly before: string | null; readonly after: string | null },
): Promise<EditObservation> {
  const diff = await unifiedDiff(path, before ?? '', after ?? '');
  const contents = { prev_exist: before !== null, old_content: carried(before), new_content: carried(after) };
  return { observation: 'edit', content, extras: { path, ...contents, impl_source: source, diff } };
}

function carried(text: string | null): string | null {
  return text !== null && text.length > MAX_CARRIED ? null : text;
}

/** The change as a unified diff; null when it would take too long to find, or would be too long. */
async function unifiedDiff(path: string, before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch } = await import('diff');
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, { context: 3, timeout: MAX_DIFF_MS });
  return patch === undefined || patch.length > MAX_DIFF_CHARS ? null : patch.slice(patch.indexOf('--- '));
}
