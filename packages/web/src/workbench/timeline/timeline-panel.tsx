import { useInfiniteQuery } from '@tanstack/react-query';
import type { EventsPage } from '@tendon/protocol';
import { Suspense, useState } from 'react';
import { useConversation } from '../../conversation/open-conversation.ts';
import { clock } from '../../copy/figures.ts';
import { cut, firstLine } from '../../copy/shorten.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Late } from '../../ui/placeholder.tsx';
import { Attempts } from './attempts.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

const BackTo = lazyPart(async () => ({ default: (await import('./back-to.tsx')).BackTo }));

/** A message of the person: what the moments of a conversation are counted by. */
export interface Moment {
  readonly id: number;
  readonly at: string;
  readonly text: string;
}

/** Every message of the person, the newest first, each with the way back to it and on from it. */
export function TimelinePanel() {
  const { id, snapshot } = useConversation();
  const pages = useInfiniteQuery({
    queryKey: ['moments', id, snapshot.state.lastUserMessageId],
    queryFn: ({ pageParam, signal }) =>
      tendon.conversations.events(id, { include_types: 'message', source: 'user', reverse: 'true', limit: 50, end_id: pageParam }, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page: EventsPage) => (page.has_more ? Number(page.events.at(-1)?.id) - 1 : undefined),
    retry: false,
  });
  const moments = pages.data?.pages.flatMap(({ events }) => events.map(momentOf)) ?? [];
  if (pages.isPending) return <Late>{t('Reading your messages')}</Late>;
  if (pages.isError) {
    return (
      <div className="notice" role="alert">
        <b>{pages.error.message}</b>
        <Button look="line" onClick={() => void pages.refetch()}>
          {t('Try again')}
        </Button>
      </div>
    );
  }
  if (moments.length === 0)
    return <Empty title={t('No moment yet')}>{t('Each message of yours is one: the way back to it is here.')}</Empty>;
  return (
    <div className="timeline">
      <ol aria-label={t('Your messages')}>
        {moments.map((moment, index) => (
          <MomentRow key={moment.id} moment={moment} hasEarlier={index < moments.length - 1 || pages.hasNextPage} />
        ))}
      </ol>
      {pages.hasNextPage && (
        <Button look="line" isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {pages.isFetchingNextPage ? t('Loading earlier messages') : t('Show earlier messages')}
        </Button>
      )}
      <Attempts />
    </div>
  );
}

function momentOf(frame: Readonly<Record<string, unknown>>): Moment {
  const { content = '' } = (frame.args ?? {}) as { readonly content?: string };
  return { id: Number(frame.id), at: String(frame.timestamp), text: content };
}

function MomentRow({ moment, hasEarlier }: { readonly moment: Moment; readonly hasEarlier: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const words = cut(firstLine(moment.text), 120);
  return (
    <li>
      <div className="moment">
        <time className="text-small text-ink-3" dateTime={moment.at} title={moment.at}>
          {clock(moment.at)}
        </time>
        <a className="flex-1 truncate" href={`#event-${moment.id}`}>
          {words}
        </a>
        <Button
          small
          look="line"
          aria-expanded={isOpen}
          aria-label={t('Back to here: {{words}}', { words })}
          onClick={() => setOpen(!isOpen)}
        >
          {t('Back to here')}
        </Button>
      </div>
      {isOpen && (
        <Suspense fallback={<Late>{t('Looking for the moment')}</Late>}>
          <BackTo moment={moment} hasEarlier={hasEarlier} onDone={() => setOpen(false)} />
        </Suspense>
      )}
    </li>
  );
}
