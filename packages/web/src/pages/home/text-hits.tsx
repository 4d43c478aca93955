import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ago } from '../../copy/figures.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Link } from '../../ui/link.tsx';
import { t } from '../../lib/language/text.ts';

/** One letter more is no search more. */
const REST_MS = 250;

/** Where the words stand in what was written and done: the newest place of each conversation. */
export function TextHits({ query }: { readonly query: string }) {
  const words = useRested(query.trim());
  const found = useQuery({
    queryKey: ['search', words],
    queryFn: ({ signal }) => tendon.conversations.search(words, signal),
    enabled: words.length >= 3,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (words.length < 3 || found.isPending) return null;
  const { hits = [], is_partial: isPartial = false } = found.data ?? {};
  return (
    <section aria-labelledby="text-hits-heading" className="text-hits">
      <h3 id="text-hits-heading">{t('In the text')}</h3>
      {found.error && (
        <p role="alert" className="text-bad">
          {found.error.message}
        </p>
      )}
      {found.isSuccess && hits.length === 0 && <p className="text-ink-2">{t('Nothing has these words.')}</p>}
      <ul>
        {hits.map((hit) => (
          <li key={hit.conversation_id}>
            <Link to={paths.event(hit.conversation_id, hit.event_id)}>{hit.title}</Link>
            <span className="text-small text-ink-3">
              {' '}
              {hit.from}, {ago(hit.timestamp, Date.now())}
            </span>
            <p className="truncate text-ink-2">{hit.excerpt}</p>
          </li>
        ))}
      </ul>
      {isPartial && <p className="text-small text-ink-3">{t('Not everything was looked at.')}</p>}
    </section>
  );
}

/** The value once it has rested. */
function useRested(value: string): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
