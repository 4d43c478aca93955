import { useMutation } from '@tanstack/react-query';
import { memo } from 'react';
import { useConversationActs, useFact } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { t } from '../lib/language/text.ts';

/** As many as a reader asks for at a time. */
const STEP = 500;

/** What a panel lists is of the events that are loaded: says how many are not, and loads more of them. Nothing where all are there. */
export const EarlierEvents = memo(function EarlierEvents() {
  const { connection } = useConversationActs();
  const gaps = useFact((snapshot) => snapshot.gaps);
  const gap = gaps.at(-1);
  const load = useMutation({
    mutationFn: ({ from, to }: NonNullable<typeof gap>) => connection.load({ from: Math.max(from, to - STEP), to }),
  });
  if (!gap) return null;
  const missing = gaps.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <p className="flex flex-none items-center gap-2 border-b border-line px-4 py-2 text-small text-ink-2">
      {load.isPending ? t('Loading earlier events') : t('{{count}} earlier events not loaded', { count: missing })}
      {load.error && <span className="tone-bad">{load.error.message}</span>}
      <Button small isBusy={load.isPending} onClick={() => load.mutate(gap)}>
        {t('Load earlier events')}
      </Button>
    </p>
  );
});
