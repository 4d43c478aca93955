import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useConversation } from '../conversation/open-conversation.ts';
import { tendon } from '../lib/server.ts';
import { Icon } from '../ui/icon.tsx';
import { Empty, Late } from '../ui/placeholder.tsx';

/** What the agent's programs serve, each on an origin of its own, in a window of its own. */
export function AppPanel() {
  const { links, problem, isPending } = useServed();
  if (isPending) return <Late>Asking what is served</Late>;
  if (links.length === 0) {
    return <Empty title="Nothing is being served">{problem ?? 'When a program in the sandbox listens on a port, it appears here.'}</Empty>;
  }
  return (
    <ul className="served" aria-label="Ports">
      {links.map(({ port, link, program }) => (
        <li key={port}>
          <span className="font-medium">Port {port}</span>
          {program && <span className="truncate text-ink-2">{program}</span>}
          <span className="flex-1" />
          <a className="button button-line" href={link} target="_blank" rel="noopener noreferrer" aria-label={`Open app on port ${port}`}>
            Open
            <Icon of={ExternalLink} small />
          </a>
        </li>
      ))}
    </ul>
  );
}

interface Served {
  readonly port: number;
  readonly link: string;
  /** Where the server reports it. */
  readonly program: string | undefined;
}

/** What the agent's programs serve now, with links; asked again whenever the server says that it has changed. */
export function useServed(): { readonly links: readonly Served[]; readonly problem: string | undefined; readonly isPending: boolean } {
  const { id, snapshot, isWatched } = useConversation();
  const hosts = useQuery({
    queryKey: ['web-hosts', id, snapshot.ports?.map(({ port }) => port).join() ?? ''],
    queryFn: () => tendon.conversations.webHosts(id),
    enabled: !isWatched,
    retry: false,
    placeholderData: (before) => before,
  });
  const programs = new Map(snapshot.ports?.map(({ port, program }) => [port, program]));
  // The port 0 is not a port: that link is for frontends that ask before anything is served.
  const served = Object.entries(hosts.data?.hosts ?? {}).filter(([, port]) => port > 0);
  const links = served.map(([link, port]) => ({ link, port, program: programs.get(port) }));
  return {
    links: links.toSorted((a, b) => a.port - b.port),
    problem: hosts.data?.error ?? hosts.error?.message,
    isPending: hosts.isPending,
  };
}
