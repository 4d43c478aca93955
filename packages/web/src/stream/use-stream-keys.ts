import { type RefObject, useLayoutEffect, useRef } from 'react';
import { useConversation } from '../conversation/open-conversation.ts';
import { useCommands } from '../lib/commands.ts';
import { paths } from '../lib/paths.ts';
import { isFailure, type StreamItem } from './stream-item.ts';
import type { Folds } from './use-folds.ts';
import type { VirtualRows } from './use-virtual-rows.ts';

export interface StreamKeys {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly items: readonly StreamItem[];
  readonly keys: readonly string[];
  readonly focused: number | undefined;
  readonly setFocused: (index: number | undefined) => void;
  readonly list: VirtualRows;
  readonly folds: Folds;
}

/** Moving over the events with the keyboard. The row that is moved to is put into the document first, then gets the focus. */
export function useStreamKeys({ scroller, items, keys, focused, setFocused, list }: StreamKeys): void {
  const { id, show } = useConversation();
  const rowAt = (index: number) => scroller.current?.querySelector<HTMLElement>(`[data-row="${index}"] :is(article, .turn)`);

  const wanted = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const row = wanted.current === undefined ? undefined : rowAt(wanted.current);
    if (!row) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });

  const go = (index: number) => {
    if (index < 0 || index >= keys.length) return;
    wanted.current = index;
    list.toRow(index);
    setFocused(index);
  };
  const from = focused ?? list.first;
  const find = (accepts: (item: StreamItem) => boolean, step: 1 | -1) => {
    for (let at = from + step; at >= 0 && at < items.length; at += step) if (accepts(items[at]!)) return go(at);
  };
  const item = focused === undefined ? undefined : items[focused];
  const toggle = () => rowAt(focused!)?.querySelector<HTMLElement>('[aria-expanded]')?.click();
  const isOpen = () => rowAt(focused!)?.querySelector('[aria-expanded]')?.getAttribute('aria-expanded') === 'true';

  useCommands('stream', [
    {
      id: 'next',
      title: 'Next event',
      group: 'Go to',
      keys: ['j', 'down'],
      when: 'stream',
      run: () => go(focused === undefined ? list.first : focused + 1),
    },
    {
      id: 'previous',
      title: 'Previous event',
      group: 'Go to',
      keys: ['k', 'up'],
      when: 'stream',
      run: () => go(focused === undefined ? list.first : focused - 1),
    },
    {
      id: 'previous-message',
      title: 'Previous message of yours',
      group: 'Go to',
      keys: ['['],
      when: 'stream',
      run: () => find((one) => one.type === 'turn', -1),
    },
    {
      id: 'next-message',
      title: 'Next message of yours',
      group: 'Go to',
      keys: [']'],
      when: 'stream',
      run: () => find((one) => one.type === 'turn', 1),
    },
    {
      id: 'next-error',
      title: 'Next error',
      group: 'Go to',
      keys: ['e'],
      when: 'stream',
      run: () => find((one) => one.type === 'step' && isFailure(one), 1),
    },
    {
      id: 'next-edit',
      title: 'Next edit',
      group: 'Go to',
      keys: ['d'],
      when: 'stream',
      run: () => find((one) => one.type === 'step' && one.action?.action === 'edit', 1),
    },
    {
      id: 'newest',
      title: 'Newest event',
      group: 'Go to',
      keys: ['G'],
      when: 'stream',
      run: () => (go(keys.length - 1), list.toEnd()),
    },
    { id: 'first', title: 'First event', group: 'Go to', keys: ['g g'], when: 'stream', run: () => go(0) },
    {
      id: 'open',
      title: 'Open or fold the event',
      group: 'Go to',
      keys: ['o'],
      when: 'stream',
      listed: false,
      enabled: item !== undefined,
      run: toggle,
    },
    {
      id: 'unfold',
      title: 'Open the event',
      group: 'Go to',
      keys: ['right'],
      when: 'stream',
      listed: false,
      enabled: item !== undefined,
      run: () => void (isOpen() || toggle()),
    },
    {
      id: 'fold',
      title: 'Fold the event',
      group: 'Go to',
      keys: ['left'],
      when: 'stream',
      listed: false,
      enabled: item !== undefined,
      run: () => void (isOpen() && toggle()),
    },
    {
      id: 'copy-link',
      title: 'Copy a link to the event',
      group: 'Here',
      keys: ['y'],
      when: 'stream',
      enabled: item !== undefined,
      run: () => void navigator.clipboard.writeText(location.origin + paths.event(id, item!.id)),
    },
    {
      id: 'json',
      title: 'Show the JSON of the event',
      group: 'Here',
      keys: ['r'],
      when: 'stream',
      enabled: item !== undefined,
      run: () => show({ tab: 'raw', eventId: item!.id }),
    },
  ]);
}
