import { ExternalLink } from 'lucide-react';
import { Icon } from '../ui/icon.tsx';
import { Empty, Late } from '../ui/placeholder.tsx';
import { useServed } from './use-served.ts';

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
