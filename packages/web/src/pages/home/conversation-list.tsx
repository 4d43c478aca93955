import type { ConversationInfo } from '@tendon/client';
import { useQuery } from '@tanstack/react-query';
import { Search, X } from 'lucide-react';
import { useState } from 'react';
import { conversationsQuery } from '../../lib/queries.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/late.tsx';
import { isRunningNow, isWaiting } from '../../copy/conversation-sentence.ts';
import { ListError } from './list-error.tsx';
import { ConversationRow } from './conversation-row.tsx';
import { DeletedRow } from './deleted-row.tsx';
import { useDeletion } from './use-deletion.ts';

type Filter = 'all' | 'waiting' | 'running';

const PASSES = {
  all: () => true,
  waiting: isWaiting,
  running: isRunningNow,
} as const satisfies Record<Filter, (info: ConversationInfo) => boolean>;

/** Waiting ones first, then newest. */
export function ConversationList() {
  const list = useQuery(conversationsQuery);
  const [filter, setFilter] = useState<Filter>('all');
  const [search, setSearch] = useState<string>();
  const deletion = useDeletion();
  const all = list.data ?? [];
  const waiting = all.filter(isWaiting).length;
  const running = all.filter(isRunningNow).length;
  const shown = all
    .filter(PASSES[filter])
    .filter((info) => !search || `${info.title} ${info.selected_repository ?? ''}`.toLowerCase().includes(search.toLowerCase()))
    .toSorted((a, b) => Number(isWaiting(b)) - Number(isWaiting(a)) || b.last_updated_at.localeCompare(a.last_updated_at));

  return (
    <section className="conversations" aria-labelledby="conversations-heading">
      <header>
        <h2 id="conversations-heading" className="flex-1">
          Conversations
        </h2>
        {search === undefined ? (
          <>
            <FilterButton name="All" is={filter === 'all'} onClick={() => setFilter('all')} />
            <FilterButton name="Waiting for you" count={waiting} is={filter === 'waiting'} onClick={() => setFilter('waiting')} />
            <span className="only-wide">
              <FilterButton name="Running" count={running} is={filter === 'running'} onClick={() => setFilter('running')} />
            </span>
            <IconButton label="Search conversations" onClick={() => setSearch('')}>
              <Icon of={Search} />
            </IconButton>
          </>
        ) : (
          <>
            <input
              className="field max-w-72"
              type="search"
              aria-label="Search conversations"
              placeholder="Search titles and repositories"
              value={search}
              ref={focusOnce}
              onChange={(event) => setSearch(event.target.value)}
              onKeyDown={(event) => event.key === 'Escape' && setSearch(undefined)}
            />
            <IconButton label="End the search" onClick={() => setSearch(undefined)}>
              <Icon of={X} />
            </IconButton>
          </>
        )}
      </header>
      {list.isPending && <Late>Loading conversations</Late>}
      {list.isError && <ListError error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && all.length === 0 && (
        <p className="text-ink-2">
          <b className="font-semibold text-ink">No conversations yet</b> Describe a task above.
        </p>
      )}
      {list.isSuccess && all.length > 0 && shown.length === 0 && <p className="text-ink-2">{EMPTY[filter]}</p>}
      <ul>
        {shown.map((info) => (
          <li key={info.conversation_id}>
            {deletion.isDeleted(info.conversation_id) ? (
              <DeletedRow title={info.title} onUndo={() => deletion.undo(info.conversation_id)} />
            ) : (
              <ConversationRow info={info} onDelete={() => deletion.start(info.conversation_id)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const EMPTY = {
  all: 'No conversation has this in its title.',
  waiting: 'Nothing waits for you.',
  running: 'Nothing is running.',
} as const satisfies Record<Filter, string>;

function FilterButton(props: { readonly name: string; readonly count?: number; readonly is: boolean; readonly onClick: () => void }) {
  return (
    <Button aria-pressed={props.is} onClick={props.onClick}>
      {props.name}
      {props.count !== undefined && <span className="font-normal text-ink-3">{props.count}</span>}
    </Button>
  );
}

function focusOnce(field: HTMLInputElement | null): void {
  field?.focus();
}
