import { Settings } from 'lucide-react';
import { keyText } from '../lib/keys.ts';
import { paths } from '../lib/paths.ts';
import { homeServer, tendon } from '../lib/server.ts';
import { Icon } from '../ui/icon.tsx';
import { Link } from '../ui/link.tsx';
import { WhoAmI } from './who-am-i.tsx';
import { t } from '../lib/language/text.ts';

/** Leads to the settings, from the bar of a page; beside it, the server where it is another than the page's own. */
export function SettingsLink() {
  return (
    <>
      {tendon !== homeServer && (
        <Link className="button button-line button-small" to={paths.settingsPage('connections')}>
          {t('On {{host}}', { host: tendon.host })}
        </Link>
      )}
      <WhoAmI />
      <OwnLink />
    </>
  );
}

function OwnLink() {
  return (
    <Link className="button button-icon" to={paths.settings} aria-label={t('Settings')} title={`${t('Settings')} (${keyText('mod+,')})`}>
      <Icon of={Settings} />
    </Link>
  );
}
