import { paths } from '../lib/paths.ts';
import { Link } from '../ui/link.tsx';
import { t } from '../lib/language/text.ts';

export function NotFound() {
  return (
    <main className="notice">
      <h1>
        <b>{t('There is no page here')}</b>
      </h1>
      <p>{t('The address may be of another server, or the conversation was deleted.')}</p>
      <Link className="button button-line mt-2" to={paths.home}>
        {t('Show all conversations')}
      </Link>
    </main>
  );
}
