import { ApiError, type Gap } from '@tendon/client';
import { memo, useState } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { Late } from '../ui/placeholder.tsx';
import type { RowPlace } from './item-row.tsx';
import type { GapItem } from './stream-item.ts';
import { type Earlier, STEP } from './use-earlier.ts';
import { t } from '../lib/language/text.ts';

/** Events that are not loaded, between others: they are when the reader comes near. */
export function GapRow({ item, position, size }: RowPlace & { readonly item: GapItem }) {
  const words = t('{{count}} events not loaded', { count: item.to - item.from });
  return (
    <article className="note" tabIndex={-1} aria-label={words} aria-posinset={position} aria-setsize={size}>
      {words}
      <LoadButton from={item.from} to={item.to} />
    </article>
  );
}

/** Above the first row, while there are events before it. */
export function EarlierLine({ missing, earlier }: { readonly missing: Gap; readonly earlier: Earlier }) {
  return (
    <div className="note absolute inset-x-0">
      {earlier.isLoading ? <Late>{t('Loading earlier events')}</Late> : <EarlierCount count={missing.to - missing.from} />}
      {earlier.problem && (
        <>
          <span className="tone-bad">{earlier.problem}</span>
          <Button small onClick={earlier.load}>
            {t('Try again')}
          </Button>
        </>
      )}
    </div>
  );
}

/** Not with each event: a figure in the reader's language is dear. */
const EarlierCount = memo(function EarlierCount({ count }: { readonly count: number }) {
  return t('{{count}} earlier events', { count });
});

/** The end of the gap is loaded: what is nearest to what is shown below. */
function LoadButton({ from, to }: { readonly from: number; readonly to: number }) {
  const { connection } = useConversationActs();
  const [isLoading, setLoading] = useState(false);
  const [problem, setProblem] = useState('');
  const load = async () => {
    setLoading(true);
    await connection.load({ from: Math.max(from, to - STEP), to }).then(
      () => setProblem(''),
      (error: unknown) => setProblem(error instanceof ApiError ? error.message : String(error)),
    );
    setLoading(false);
  };
  if (isLoading) return <Late>{t('Loading earlier events')}</Late>;
  return (
    <>
      <Button small onClick={() => void load()}>
        {t('Load earlier events')}
      </Button>
      {problem && <span className="tone-bad">{problem}</span>}
    </>
  );
}
