import type { ConversationSnapshot } from '@tendon/client';
import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router';
import { useConversationActs } from '../conversation/open-conversation.ts';
import type { StreamItem } from './stream-item.ts';
import type { Folds } from './use-folds.ts';

/** Events that are loaded on either side of one that a link leads to. */
const AROUND = 100;

interface PermalinkOptions {
  readonly snapshot: Pick<ConversationSnapshot, 'loaded' | 'gaps'>;
  readonly items: readonly StreamItem[];
  readonly folds: Folds;
  readonly go: (index: number) => void;
}

/** Goes to the event that the address names (`#event-300`), loads what is around it where that is missing, and opens what it is folded into. */
export function usePermalink({ snapshot: { loaded, gaps }, items, folds, go }: PermalinkOptions): void {
  const { connection } = useConversationActs();
  const { hash, key } = useLocation();
  /** The navigation that was followed: a later event must not take the reader back there. */
  const followed = useRef('');
  const asked = useRef('');
  useEffect(() => {
    const [, name] = /^#event-(\d+)$/.exec(hash) ?? [];
    if (name === undefined || followed.current === key || !loaded) return;
    const id = Number(name);
    const gap = gaps?.find(({ from, to }) => from <= id && id < to);
    if (gap) {
      if (asked.current !== key)
        connection.load({ from: Math.max(gap.from, id - AROUND), to: Math.min(gap.to, id + AROUND) }).catch(() => undefined);
      asked.current = key;
      return;
    }
    followed.current = key;
    const index = placeOf(items, id);
    const item = items[index];
    if (!item) return;
    folds.set(item.key, true);
    go(index);
  }, [hash, key, items, loaded, gaps, folds, go, connection]);
}

/** Where the row of an event stands: its own, the step or the fold that has it, else the one before it. */
function placeOf(items: readonly StreamItem[], id: number): number {
  const own = items.findIndex((item) => holds(item, id));
  return own >= 0 ? own : items.findLastIndex((item) => item.type !== 'gap' && item.id <= id);
}

function holds(item: StreamItem, id: number): boolean {
  if (item.type === 'fold') return item.steps.some((step) => holds(step, id));
  if (item.type === 'gap') return false;
  return item.id === id || (item.type === 'step' && (item.action?.id === id || item.observation?.id === id));
}
