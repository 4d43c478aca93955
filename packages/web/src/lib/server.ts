import { queryOptions, useQuery } from '@tanstack/react-query';
import { type ConversationInfo, createRest, type Rest } from '@tendon/client';
import { isDemoModel, modelLabel } from './models.ts';
import { stored } from './stored.ts';

/** The server that served this page; its settings name the others. */
export const homeServer = createRest({ baseUrl: location.origin, apiKey: () => serverKey.get(location.origin) });

/** Keys of servers, in this browser alone; each goes to its own server and to no other. */
export const serverKey = {
  get: (server: string): string | undefined => stored.get(keyName(server)) ?? undefined,
  set: (server: string, key: string | undefined): void => stored.set(keyName(server), key ?? null),
};

function keyName(server: string): string {
  return server === location.origin ? 'key' : `key.${server}`;
}

const CHOSEN = 'tendon.server';

/** The server that the pages of this tab show; see `showServer`. */
export let tendon = restOf(chosenServer());

/** From now on pages show that server; what is drawn must be drawn anew. A tab that is loaded again stays with it. */
export function showServer(server: string): void {
  try {
    sessionStorage.setItem(CHOSEN, server);
  } catch {
    // It holds until the page is loaded again.
  }
  tendon = restOf(server);
}

export function restOf(server: string): Rest {
  return server === location.origin ? homeServer : createRest({ baseUrl: server, apiKey: () => serverKey.get(server) });
}

function chosenServer(): string {
  try {
    return sessionStorage.getItem(CHOSEN) ?? location.origin;
  } catch {
    return location.origin;
  }
}

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
