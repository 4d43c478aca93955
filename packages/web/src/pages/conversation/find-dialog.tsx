import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { clock } from '../../copy/figures.ts';
import { cut } from '../../copy/shorten.ts';
import { navigate } from '../../lib/address.tsx';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { focusOnMount } from '../../ui/popup.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { t } from '../../lib/language/text.ts';

const MOST = 50;
/** They have no row of their own. */
const WITHOUT_ROW = 'agent_state_changed,recall,system,null';

interface Found {
  readonly id: number;
  readonly at: string;
  readonly excerpt: string;
}

/** Where words stand in the whole conversation, the newest place first; what is chosen is gone to. */
export function FindDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  const words = text.trim();
  const found = useQuery({
    queryKey: ['find', id, words],
    queryFn: ({ signal }) => find(id, words, signal),
    enabled: words !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  const hits = words === '' ? [] : (found.data ?? []);
  const go = (hit: Found | undefined) => {
    if (!hit) return;
    onClose();
    navigate(paths.event(id, hit.id));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 && event.key !== 'Enter') return;
    event.preventDefault();
    if (step === 0) go(hits[chosen]);
    else setChosen((now) => (now + step + hits.length) % Math.max(1, hits.length));
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label={t('Find in this conversation')}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <input
        role="combobox"
        aria-label={t('Find in this conversation')}
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={hits[chosen] ? `${list}-${chosen}` : undefined}
        placeholder={t('Find in this conversation')}
        ref={focusOnMount}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Hits id={list} hits={hits} chosen={chosen} onChoose={setChosen} onGo={go} />
      <div className="px-3 pb-2 empty:hidden">{words !== '' && <Without found={found} words={words} />}</div>
    </dialog>
  );
}

interface HitsProps {
  readonly id: string;
  readonly hits: readonly Found[];
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  readonly onGo: (hit: Found) => void;
}

function Hits({ id, hits, chosen, onChoose, onGo }: HitsProps) {
  return (
    <div id={id} role="listbox" aria-label={t('Find in this conversation')} className="scroll">
      {hits.map((hit, index) => (
        <div
          key={hit.id}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          className="option"
          ref={index === chosen ? (row) => row?.scrollIntoView({ block: 'nearest' }) : undefined}
          onPointerMove={() => onChoose(index)}
          onClick={() => onGo(hit)}
        >
          <span className="truncate">{hit.excerpt}</span>
          <span className="flex-1" />
          <time className="text-small text-ink-3" dateTime={hit.at}>
            {clock(hit.at)}
          </time>
        </div>
      ))}
    </div>
  );
}

/** Why there are none. */
function Without({ found, words }: { readonly found: UseQueryResult<readonly Found[]>; readonly words: string }) {
  if (found.error)
    return (
      <p role="alert" className="text-bad">
        {found.error.message}
      </p>
    );
  if (found.isPending) return <Late>{t('Searching')}</Late>;
  return found.data?.length === 0 ? <p className="text-ink-3">{t('No match for “{{text}}”', { text: cut(words, 60) })}</p> : null;
}

async function find(id: string, words: string, signal: AbortSignal): Promise<readonly Found[]> {
  const query = { query: words, reverse: 'true', limit: MOST, exclude_types: WITHOUT_ROW };
  const { events } = await tendon.conversations.events(id, query, signal);
  // An action and what it caused are one row.
  const causes = new Set(events.map(({ cause }) => cause));
  const places = events.filter((event) => !causes.has(event.id));
  return places.map((event) => ({ id: Number(event.id), at: String(event.timestamp), excerpt: excerptOf(event, words) }));
}

const BEFORE = 40;

/** The words with what stands around them, in one line; of a call whose words are in none of its texts, what it was called with. */
function excerptOf(event: Readonly<Record<string, unknown>>, words: string): string {
  const { args = {}, content, message } = event as { readonly args?: object; readonly content?: unknown; readonly message?: unknown };
  const texts = [...Object.values(args), content, message].filter((text) => typeof text === 'string');
  const text = texts.find((one) => one.toLowerCase().includes(words.toLowerCase())) ?? JSON.stringify(args);
  const at = Math.max(0, text.toLowerCase().indexOf(words.toLowerCase()));
  return `${at > BEFORE ? '…' : ''}${cut(text.slice(Math.max(0, at - BEFORE), at + 200).replaceAll(/\s+/g, ' '), 160)}`;
}
