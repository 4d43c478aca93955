import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Event, isObservation, type WorkspaceChanges } from '@tendon/protocol';
import { useEffect, useMemo, useState } from 'react';
import { useConversation, useConversationActs } from '../../conversation/open-conversation.ts';
import { tendon } from '../../lib/server.ts';

/** After these the files may be others. */
const MAY_CHANGE: ReadonlySet<string> = new Set(['run', 'run_ipython', 'write', 'edit', 'restore_checkpoint', 'delegate', 'error']);
/** While the agent works, the workspace is looked at no more often. */
const PAUSE_MS = 1500;

export type Compared = WorkspaceChanges & {
  /** The event that may have changed a file and had come when they were compared, -1 for none. */
  readonly after: number;
};

/** What has changed against a base, looked up again when a step may have changed it. */
export function useChanges(against: string, isWaking: boolean) {
  const { id, snapshot } = useConversation();
  const revision = useRevision();
  return useQuery({
    queryKey: ['changes', id, against, isWaking, revision],
    queryFn: async (): Promise<Compared> => ({ ...(await tendon.review.changes(id, { against, isWaking })), after: revision }),
    enabled: snapshot.loaded,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export function useRepository(isWaking: boolean, isWanted: boolean) {
  const { id } = useConversationActs();
  const revision = useRevision();
  return useQuery({
    queryKey: ['changes', id, 'repository', isWaking, revision],
    queryFn: () => tendon.review.repository(id, { isWaking }),
    enabled: isWanted,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** Looks everything up again, after an act of this person's. */
export function useLookAgain(): () => Promise<void> {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['changes', id] });
}

/** The id of the newest event that may have changed a file, -1 for none. */
export function lastChange(events: readonly Event[]): number {
  return events.findLast((event) => isObservation(event) && MAY_CHANGE.has(event.observation))?.id ?? -1;
}

/** The last change as it was when nothing changed for so long; the first that is loaded is taken at once, or all would be asked twice. */
function useRevision(): number {
  const { events, loaded } = useConversation().snapshot;
  const now = useMemo(() => lastChange(events), [events]);
  const [settled, setSettled] = useState(loaded ? now : undefined);
  if (loaded && settled === undefined) setSettled(now);
  useEffect(() => {
    if (!loaded) return undefined;
    const timer = setTimeout(() => setSettled(now), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [loaded, now]);
  return settled ?? -1;
}
