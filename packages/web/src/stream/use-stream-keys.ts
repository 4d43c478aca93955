import { type RefObject, useLayoutEffect, useRef } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { type Command, useCommands } from '../lib/commands.ts';
import { paths } from '../lib/paths.ts';
import { tendon } from '../lib/server.ts';
import { failureIn } from './failures.ts';
import { isFailure, type StreamItem } from './stream-item.ts';
import type { VirtualRows } from './use-virtual-rows.ts';
import { t } from '../lib/language/text.ts';

export interface StreamKeys {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly items: readonly StreamItem[];
  readonly keys: readonly string[];
  readonly focused: number | undefined;
  readonly setFocused: (index: number | undefined) => void;
  readonly list: VirtualRows;
  readonly loadFirst: () => Promise<void>;
}

/** Moving over the events with the keyboard; returns what moves to a row. It is put into the document first, then gets the focus. */
export function useStreamKeys({ scroller, items, keys, focused, setFocused, list, loadFirst }: StreamKeys): (index: number) => void {
  const rowAt = (index: number) => scroller.current?.querySelector<HTMLElement>(`[data-row="${index}"] :is(article, .turn)`);
  const wanted = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const row = wanted.current === undefined ? undefined : rowAt(keys.indexOf(wanted.current));
    if (!row) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  const go = (index: number) => {
    if (index < 0 || index >= keys.length) return;
    wanted.current = keys[index];
    list.toRow(index);
    setFocused(index);
  };
  const latest = useRef(go);
  latest.current = go;
  const toFirst = () => latest.current(0);
  const from = focused ?? list.first;
  const find = (accepts: (item: StreamItem) => boolean, step: 1 | -1) => () => {
    for (let at = from + step; at >= 0 && at < items.length; at += step) if (accepts(items[at]!)) return go(at);
  };
  const move = (id: string, title: string, key: readonly string[], run: () => void): Command => ({
    id,
    title,
    group: 'Go to',
    keys: key,
    when: 'stream',
    run,
  });
  useCommands('stream', [
    move('next', t('Next event'), ['j', 'down'], () => go(focused === undefined ? list.first : focused + 1)),
    move('previous', t('Previous event'), ['k', 'up'], () => go(focused === undefined ? list.first : focused - 1)),
    move('previous-message', t('Previous message of yours'), ['['], find(isTurn, -1)),
    move('next-message', t('Next message of yours'), [']'], find(isTurn, 1)),
    move('next-error', t('Next error'), ['e'], find(hasFailure, 1)),
    move('next-edit', t('Next edit'), ['d'], find(isEdit, 1)),
    move('newest', t('Newest event'), ['G'], () => (go(keys.length - 1), list.toEnd())),
    move('first', t('First event'), ['g g'], () => void loadFirst().then(toFirst, toFirst)),
    ...useEventCommands(focused === undefined ? undefined : items[focused], () => rowAt(focused!)),
  ]);
  return go;
}

const isTurn = (item: StreamItem) => item.type === 'turn';
const hasFailure = (item: StreamItem) => (item.type === 'step' && isFailure(item)) || failureIn(item) !== undefined;
const isEdit = (item: StreamItem) => item.type === 'step' && item.action?.action === 'edit';

/** What can be done with the event that has the focus. */
function useEventCommands(item: StreamItem | undefined, row: () => HTMLElement | null | undefined): readonly Command[] {
  const { id, show } = useConversationActs();
  const toggle = () => row()?.querySelector<HTMLElement>('[aria-expanded]')?.click();
  const isOpen = () => row()?.querySelector('[aria-expanded]')?.getAttribute('aria-expanded') === 'true';
  const enabled = item !== undefined;
  const act = (name: string, title: string, key: string, run: () => void): Command => ({
    id: name,
    title,
    group: 'Here',
    keys: [key],
    when: 'stream',
    enabled,
    run,
  });
  const fold = (name: string, title: string, key: string, run: () => void): Command => ({
    ...act(name, title, key, run),
    group: 'Go to',
    listed: false,
  });
  return [
    fold('open', t('Open or fold the event'), 'o', toggle),
    fold('unfold', t('Open the event'), 'right', () => void (isOpen() || toggle())),
    fold('fold', t('Fold the event'), 'left', () => void (isOpen() && toggle())),
    act(
      'copy-link',
      t('Copy a link to the event'),
      'y',
      () => void navigator.clipboard.writeText(tendon.baseUrl + paths.event(id, item!.id)),
    ),
    act('json', t('View the source of the event'), 'r', () => show({ tab: 'raw', eventId: item!.id })),
  ];
}
