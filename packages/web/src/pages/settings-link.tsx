import { Settings } from 'lucide-react';
import { keyText } from '../lib/keys.ts';
import { paths } from '../lib/paths.ts';
import { Icon } from '../ui/icon.tsx';
import { Link } from '../ui/link.tsx';
import { t } from '../lib/language/text.ts';

/** Leads to the settings, from the bar of a page. */
export function SettingsLink() {
  return (
    <Link className="button button-icon" to={paths.settings} aria-label={t('Settings')} title={`${t('Settings')} (${keyText('mod+,')})`}>
      <Icon of={Settings} />
    </Link>
  );
}
