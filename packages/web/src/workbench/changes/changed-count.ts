import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConversation } from '../../conversation/open-conversation.ts';

const keyOf = (id: string) => ['changed-count', id] as const;

/** How many files differ from the start, once the panel has compared them. */
export function useChangedCount(): number | undefined {
  const { id } = useConversation();
  return useQuery<number>({ queryKey: keyOf(id), queryFn: skipToken }).data;
}

/** For the tab, which shows it. */
export function useReportedCount(count: number | undefined): void {
  const { id } = useConversation();
  const queries = useQueryClient();
  useEffect(() => {
    if (count !== undefined) queries.setQueryData(keyOf(id), count);
  }, [queries, id, count]);
}
