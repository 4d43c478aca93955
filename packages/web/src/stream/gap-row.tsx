import { ApiError, type Gap } from '@tendon/client';
import { useState } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { count } from '../copy/figures.ts';
import { Button } from '../ui/button.tsx';
import { Late } from '../ui/placeholder.tsx';
import type { RowPlace } from './item-row.tsx';
import type { GapItem } from './stream-item.ts';
import { type Earlier, STEP } from './use-earlier.ts';

/** Events that are not loaded, between others: they are when the reader comes near. */
export function GapRow({ item, position, size }: RowPlace & { readonly item: GapItem }) {
  const words = count(item.to - item.from, 'event');
  return (
    <article className="note" tabIndex={-1} aria-label={`${words} not loaded`} aria-posinset={position} aria-setsize={size}>
      {words} not loaded
      <LoadButton from={item.from} to={item.to} />
    </article>
  );
}

/** Above the first row, while there are events before it. */
export function EarlierLine({ missing, earlier }: { readonly missing: Gap; readonly earlier: Earlier }) {
  return (
    <div className="note absolute inset-x-0">
      {earlier.isLoading ? <Late>Loading earlier events</Late> : count(missing.to - missing.from, 'earlier event')}
      {earlier.problem && (
        <>
          <span className="tone-bad">{earlier.problem}</span>
          <Button small onClick={earlier.load}>
            Try again
          </Button>
        </>
      )}
    </div>
  );
}

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
  if (isLoading) return <Late>Loading earlier events</Late>;
  return (
    <>
      <Button small onClick={() => void load()}>
        Load earlier events
      </Button>
      {problem && <span className="tone-bad">{problem}</span>}
    </>
  );
}
