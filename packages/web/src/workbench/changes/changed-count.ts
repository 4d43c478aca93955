import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { changedFiles } from '../../conversation/changed-files.ts';
import { useConversationActs, useFact } from '../../conversation/open-conversation.ts';
import { type Compared, lastChange } from './use-review.ts';

const keyOf = (id: string) => ['changed-count', id] as const;

/**
 * How many files differ from the start, as the panel has compared them: while it is shown what it says, later only until something may
 * have changed a file again. Who watches sees the edits of the log there.
 */
export function useChangedCount(isPanelShown: boolean): number | undefined {
  const { id, isWatched } = useConversationActs();
  const { data } = useQuery<Reported>({ queryKey: keyOf(id), queryFn: skipToken });
  const newest = useFact(({ events }) => lastChange(events));
  const logged = useFact(({ events }) => (isWatched ? changedFiles(events).length : undefined));
  if (isWatched) return logged;
  return data && (isPanelShown || data.after === newest) ? data.count : undefined;
}

interface Reported {
  /** `undefined`: it compares with something else, or cannot. */
  readonly count: number | undefined;
  readonly after: number | undefined;
}

/** For the tab, which shows it. */
export function useReportedCount(compared: Compared | undefined): void {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const count = compared?.count;
  const after = compared?.after;
  useEffect(() => void queries.setQueryData<Reported>(keyOf(id), { count, after }), [queries, id, count, after]);
}
