import '../styles/app-panel.css';
import { ExternalLink, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty, Late } from '../ui/placeholder.tsx';
import { type Served, useServed } from './use-served.ts';
import { t } from '../lib/language/text.ts';

/** What the agent's programs serve, each on an origin of its own: shown here, and to be opened in a window of its own. */
export function AppPanel() {
  const { links, problem, isPending } = useServed();
  const [chosen, setChosen] = useState<number>();
  const [loads, setLoads] = useState(0);
  if (isPending) return <Late>{t('Asking what is served')}</Late>;
  const shown = links.find(({ port }) => port === chosen) ?? links[0];
  if (!shown) {
    return (
      <Empty title={t('Nothing is being served')}>
        {problem ?? t('When a program in the sandbox listens on a port, it appears here.')}
      </Empty>
    );
  }
  return (
    <div className="app-panel">
      <div className="panel-bar">
        <ul className="app-ports" aria-label={t('Ports')}>
          {links.map(({ port }) => (
            <li key={port}>
              <button type="button" aria-pressed={port === shown.port} onClick={() => setChosen(port)}>
                {t('localhost:{{port}}', { port })}
              </button>
            </li>
          ))}
        </ul>
        {shown.program && <span className="truncate text-ink-2">{shown.program}</span>}
        <span className="flex-1" />
        <IconButton small label={t('Load it again')} onClick={() => setLoads(loads + 1)}>
          <Icon of={RotateCw} small />
        </IconButton>
        <a
          className="button button-line button-small"
          href={shown.link}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={t('Open app on port {{port}}', { port: shown.port })}
        >
          {t('Open')}
          <Icon of={ExternalLink} small />
        </a>
      </div>
      <Preview key={`${shown.port} ${loads}`} {...shown} />
    </div>
  );
}

/** The address stays as it was: one that is asked for again has another token, and would load the page anew. */
function Preview({ port, link }: Served) {
  const [address] = useState(link);
  return (
    <iframe
      title={t('App on port {{port}}', { port })}
      src={address}
      sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-modals allow-downloads"
      allow=""
      referrerPolicy="no-referrer"
    />
  );
}
