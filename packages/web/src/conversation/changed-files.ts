import { isObservation, type Event, type Observation } from '@tendon/protocol';

/** Paths that the agent wrote after the event `after`, in the order of their first change. */
export function changedFiles(events: readonly Event[], after = -1): readonly string[] {
  const paths = new Set<string>();
  for (const event of events) {
    if (event.id <= after || !isObservation(event)) continue;
    if (event.observation === 'edit' || event.observation === 'write') paths.add(event.extras.path);
  }
  return [...paths];
}

/** The edits of each file, oldest first. */
export function editsByFile(events: readonly Event[]): ReadonlyMap<string, readonly Observation<'edit'>[]> {
  const files = new Map<string, Observation<'edit'>[]>();
  for (const event of events) {
    if (!isObservation(event) || event.observation !== 'edit') continue;
    files.set(event.extras.path, [...(files.get(event.extras.path) ?? []), event]);
  }
  return files;
}
