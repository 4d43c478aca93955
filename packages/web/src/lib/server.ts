import { queryOptions, useQuery } from '@tanstack/react-query';
import { type ConversationInfo, createRest } from '@tendon/client';
import { isDemoModel, modelLabel } from './models.ts';
import { stored } from './stored.ts';

/** The server that served this page. */
export const tendon = createRest({ baseUrl: location.origin, apiKey: () => stored.get('key') ?? undefined });

export const conversationsQuery = queryOptions({
  queryKey: ['conversations'],
  queryFn: ({ signal }) => tendon.conversations.list({ limit: 100, signal }),
  select: ({ results }): readonly ConversationInfo[] => results,
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

/** The model that the next answer comes from, and whether it is the scripted demonstration; `undefined` while that is not known. */
export function useModelInUse(): { readonly name: string; readonly isDemo: boolean; readonly label: string } | undefined {
  const settings = useQuery(settingsQuery);
  const info = useQuery(serverInfoQuery);
  if (settings.isPending || info.isPending) return undefined;
  const name = settings.data?.llm_model || info.data?.model || 'demo';
  return { name, isDemo: isDemoModel(name), label: modelLabel(name) };
}
