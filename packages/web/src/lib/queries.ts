import type { ConversationInfo } from '@tendon/client';
import { queryOptions } from '@tanstack/react-query';
import { tendon } from './tendon.ts';

export const conversationsQuery = queryOptions({
  queryKey: ['conversations'],
  queryFn: async ({ signal }): Promise<readonly ConversationInfo[]> => (await tendon.conversations.list({ limit: 100, signal })).results,
  refetchInterval: 5_000,
});

export const conversationQuery = (id: string) =>
  queryOptions({ queryKey: ['conversations', id], queryFn: ({ signal }) => tendon.conversations.get(id, signal) });

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => tendon.settings.get(signal),
  staleTime: 60_000,
});

export const serverInfoQuery = queryOptions({
  queryKey: ['server-info'],
  queryFn: ({ signal }) => tendon.options.serverInfo(signal),
  staleTime: 60_000,
});

export const modelsQuery = queryOptions({ queryKey: ['models'], queryFn: () => tendon.options.models(), staleTime: 600_000 });
export const agentsQuery = queryOptions({ queryKey: ['agents'], queryFn: () => tendon.options.agents(), staleTime: 600_000 });
