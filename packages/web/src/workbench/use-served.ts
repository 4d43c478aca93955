import { useQuery } from '@tanstack/react-query';
import { useConversationActs, useFact } from '../conversation/open-conversation.ts';
import { tendon } from '../lib/server.ts';

export interface Served {
  readonly port: number;
  readonly link: string;
  /** Where the server reports it. */
  readonly program: string | undefined;
}

/** What the agent's programs serve now, with links; asked again whenever the server says that it has changed. */
export function useServed(): { readonly links: readonly Served[]; readonly problem: string | undefined; readonly isPending: boolean } {
  const { id, isWatched } = useConversationActs();
  const ports = useFact((snapshot) => snapshot.ports);
  const hosts = useQuery({
    queryKey: ['web-hosts', id, ports?.map(({ port }) => port).join() ?? ''],
    queryFn: () => tendon.conversations.webHosts(id),
    enabled: !isWatched,
    retry: false,
    placeholderData: (before) => before,
  });
  const programs = new Map(ports?.map(({ port, program }) => [port, program]));
  // The port 0 is not a port: that link is for frontends that ask before anything is served.
  const served = Object.entries(hosts.data?.hosts ?? {}).filter(([, port]) => port > 0);
  const links = served.map(([link, port]) => ({ link, port, program: programs.get(port) }));
  return {
    links: links.toSorted((a, b) => a.port - b.port),
    problem: hosts.data?.error ?? hosts.error?.message,
    isPending: hosts.isPending,
  };
}
