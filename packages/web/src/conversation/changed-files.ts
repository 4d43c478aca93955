import { isAction, isObservation, type Event } from '@tendon/protocol';

/** Paths that the agent wrote after the event `after`, in the order of their first change. */
export function changedFiles(events: readonly Event[], after = -1): readonly string[] {
  const paths = new Set<string>();
  for (const event of events) {
    if (event.id <= after || !isObservation(event)) continue;
    if (event.observation === 'edit' || event.observation === 'write') paths.add(event.extras.path);
  }
  return [...paths];
}

export interface FileVersions {
  readonly path: string;
  /** Whether the agent made the file, as far as its events show. */
  readonly isNew: boolean;
  readonly before: string;
  /** `undefined`: only the last unified diff is known. */
  readonly after: string | undefined;
  readonly diff: string | undefined;
}

/** Each file the agent wrote, from before its first change to after its last. */
export function fileVersions(events: readonly Event[]): readonly FileVersions[] {
  const files = new Map<string, FileVersions>();
  const written = new Map<number, string>();
  for (const event of events) {
    if (isAction(event) && event.action === 'write') written.set(event.id, event.args.content);
    if (!isObservation(event)) continue;
    if (event.observation === 'edit') {
      const { path, prev_exist: existed, old_content: before, new_content: after, diff } = event.extras;
      const first = files.get(path) ?? { isNew: !existed, before: before ?? '' };
      files.set(path, { path, isNew: first.isNew, before: first.before, after: after ?? undefined, diff: diff ?? undefined });
    } else if (event.observation === 'write') {
      const { path } = event.extras;
      const first = files.get(path) ?? { isNew: true, before: '' };
      files.set(path, { path, isNew: first.isNew, before: first.before, after: written.get(event.cause ?? -1) ?? '', diff: undefined });
    }
  }
  return [...files.values()];
}
