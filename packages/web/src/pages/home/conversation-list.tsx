import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, type ConversationInfo } from '@tendon/client';
import { Search, X } from 'lucide-react';
import { Suspense, useEffect, useRef, useState } from 'react';
import { isRunningNow, isWaiting } from '../../copy/state-sentence.ts';
import { conversationsQuery, serverInfoQuery, tendon, serverKey } from '../../lib/server.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { SignIn } from '../../ui/sign-in.tsx';
import { ConversationRow, DeletedRow } from './conversation-row.tsx';
import { t, textKey } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

const TextHits = lazyPart(async () => ({ default: (await import('./text-hits.tsx')).TextHits }));

type Filter = 'all' | 'waiting' | 'running';

const PASSES = {
  all: () => true,
  waiting: isWaiting,
  running: isRunningNow,
} as const satisfies Record<Filter, (info: ConversationInfo) => boolean>;

/** Waiting ones first, then newest. `asking`: the ids of those whose agent asked something. */
export function ConversationList({ asking }: { readonly asking: ReadonlySet<string> }) {
  const list = useQuery(conversationsQuery);
  const [filter, setFilter] = useState<Filter>('all');
  const [search, setSearch] = useState<string>();
  const deletion = useDeletion();
  const older = useOlder();
  const pin = usePin();
  const all = [...(list.data ?? []), ...older.conversations];
  const shown = all
    .filter(PASSES[filter])
    .filter((info) => !search || `${info.title} ${info.selected_repository ?? ''}`.toLowerCase().includes(search.toLowerCase()))
    .toSorted((a, b) => Number(isWaiting(b)) - Number(isWaiting(a)) || b.last_updated_at.localeCompare(a.last_updated_at));

  return (
    <section className="conversations" aria-labelledby="conversations-heading">
      <ListBar filter={filter} onFilter={setFilter} search={search} onSearch={setSearch} all={all} />
      {list.isPending && <Late>{t('Loading conversations')}</Late>}
      {list.isError && <ListError error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && all.length === 0 && (
        <p className="text-ink-2">
          <b className="font-semibold text-ink">{t('No conversations yet')}</b> {t('Describe a task above.')}
        </p>
      )}
      {list.isSuccess && all.length > 0 && shown.length === 0 && <p className="text-ink-2">{t(EMPTY[filter])}</p>}
      <ul>
        {shown.map((info) => (
          <li key={info.conversation_id}>
            {deletion.isDeleted(info.conversation_id) ? (
              <DeletedRow title={info.title} onUndo={() => deletion.undo(info.conversation_id)} />
            ) : (
              <ConversationRow
                info={info}
                asks={asking.has(info.conversation_id)}
                onDelete={() => deletion.start(info.conversation_id)}
                onPin={pin && ((isPinned) => pin(info.conversation_id, isPinned))}
              />
            )}
          </li>
        ))}
      </ul>
      {search && (
        <Suspense>
          <TextHits query={search} />
        </Suspense>
      )}
      {older.hasMore && (
        <Button look="line" isBusy={older.isPending} onClick={older.show}>
          {older.isPending ? t('Loading older conversations') : t('Show older conversations')}
        </Button>
      )}
      {older.error && (
        <p role="alert" className="text-bad">
          {older.error.message}
        </p>
      )}
    </section>
  );
}

/** Only where the server deletes what nobody uses. */
function usePin(): ((id: string, isPinned: boolean) => void) | undefined {
  const queries = useQueryClient();
  const server = useQuery(serverInfoQuery);
  const pin = useMutation({
    mutationFn: ({ id, isPinned }: { readonly id: string; readonly isPinned: boolean }) => tendon.conversations.pin(id, isPinned),
    onSettled: () => queries.invalidateQueries({ queryKey: ['conversations'] }),
  });
  return server.data?.retention_days === undefined ? undefined : (id, isPinned) => pin.mutate({ id, isPinned });
}

/** The pages after the first, each once it is asked for. */
function useOlder() {
  const first = useQuery({ ...conversationsQuery, select: (page) => page.next_page_id ?? null });
  const pages = useInfiniteQuery({
    queryKey: ['conversations', 'older', first.data],
    queryFn: ({ pageParam, signal }) => tendon.conversations.list({ limit: 100, pageId: pageParam, signal }),
    initialPageParam: first.data ?? '',
    getNextPageParam: (page) => page.next_page_id ?? undefined,
    enabled: false,
  });
  return {
    conversations: pages.data?.pages.flatMap(({ results }) => results) ?? [],
    hasMore: pages.data ? pages.hasNextPage : typeof first.data === 'string',
    isPending: pages.isFetching,
    error: pages.error,
    show: () => void pages.fetchNextPage(),
  };
}

interface ListBarProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly search: string | undefined;
  readonly onSearch: (search: string | undefined) => void;
  readonly all: readonly ConversationInfo[];
}

/** Its heading, and which conversations are shown. */
function ListBar({ filter, onFilter, search, onSearch, all }: ListBarProps) {
  return (
    <header>
      <h2 id="conversations-heading" className="flex-1">
        {t('Conversations')}
      </h2>
      {search !== undefined && (
        <input
          className="field max-w-72"
          type="search"
          aria-label={t('Search conversations')}
          placeholder={t('Search titles and text')}
          value={search}
          ref={focusOnMount}
          onChange={(event) => onSearch(event.target.value)}
          onKeyDown={(event) => event.key === 'Escape' && onSearch(undefined)}
        />
      )}
      <FilterButton name={t('All')} is={filter === 'all'} onClick={() => onFilter('all')} />
      <FilterButton
        name={t('Waiting for you')}
        count={all.filter(isWaiting).length}
        is={filter === 'waiting'}
        onClick={() => onFilter('waiting')}
      />
      <span className="only-wide">
        <FilterButton
          name={t('Running')}
          count={all.filter(isRunningNow).length}
          is={filter === 'running'}
          onClick={() => onFilter('running')}
        />
      </span>
      {search === undefined ? (
        <IconButton label={t('Search conversations')} onClick={() => onSearch('')}>
          <Icon of={Search} />
        </IconButton>
      ) : (
        <IconButton label={t('Close search')} onClick={() => onSearch(undefined)}>
          <Icon of={X} />
        </IconButton>
      )}
    </header>
  );
}

const EMPTY = {
  all: textKey('No title matches.'),
  waiting: textKey('Nothing needs you.'),
  running: textKey('Nothing is running.'),
} as const satisfies Record<Filter, string>;

function FilterButton(props: { readonly name: string; readonly count?: number; readonly is: boolean; readonly onClick: () => void }) {
  return (
    <Button aria-pressed={props.is} onClick={props.onClick}>
      {props.name}
      {props.count !== undefined && <span className="font-normal text-ink-3">{props.count}</span>}
    </Button>
  );
}

/** Why there is no list, and the way on. */
function ListError({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  const queries = useQueryClient();
  if (error instanceof ApiError && error.status === 401) {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-3 text-ink-2">
        {serverKey.get(tendon.baseUrl) === undefined
          ? t('Enter the access key of this server.')
          : t('This server does not accept the key.')}
        <SignIn onKey={() => void queries.invalidateQueries()} />
      </div>
    );
  }
  return (
    <p role="alert" className="flex items-center gap-2 text-ink-2">
      {error instanceof ApiError && error.status > 0
        ? t('{{host}} answered: {{message}}.', { host: tendon.host, message: error.message })
        : t('Could not reach {{host}}.', { host: tendon.host })}
      <Button look="line" onClick={onRetry}>
        {t('Try again')}
      </Button>
    </p>
  );
}

const UNDO_MS = 10_000;

/** Deleting that can be taken back for 10 s: the server is asked only then, or when the page is left. */
function useDeletion() {
  const queries = useQueryClient();
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>());

  const forget = (id: string) => {
    clearTimeout(timers.current.get(id));
    timers.current.delete(id);
  };
  const carryOut = async (id: string) => {
    forget(id);
    await tendon.conversations.delete(id).catch(() => undefined);
    await queries.invalidateQueries({ queryKey: ['conversations'] });
    setDeleted((now) => without(now, id));
  };
  useEffect(() => {
    const pending = timers.current;
    return () => {
      for (const id of pending.keys()) void carryOut(id);
    };
    // oxlint-disable-next-line exhaustive-deps -- only when the page is left
  }, []);
  return {
    isDeleted: (id: string) => deleted.has(id),
    start: (id: string) => {
      setDeleted((now) => new Set([...now, id]));
      timers.current.set(
        id,
        setTimeout(() => void carryOut(id), UNDO_MS),
      );
    },
    undo: (id: string) => {
      forget(id);
      setDeleted((now) => without(now, id));
    },
  };
}

function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set([...ids].filter((one) => one !== id));
}
