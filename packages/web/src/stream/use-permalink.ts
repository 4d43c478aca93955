import type { ConversationSnapshot } from '@tendon/client';
import { useEffect, useRef } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import type { StreamItem } from './stream-item.ts';
import { type Address, useAddress } from '../lib/address.tsx';
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
  const address = useAddress();
  /** The navigation that was followed: a later event must not take the reader back there. */
  const followed = useRef<Address>(undefined);
  const asked = useRef<Address>(undefined);
  useEffect(() => {
    const [, name] = /^#event-(\d+)$/.exec(address.hash) ?? [];
    if (name === undefined || followed.current === address || !loaded) return;
    const id = Number(name);
    const gap = gaps?.find(({ from, to }) => from <= id && id < to);
    if (gap) {
      if (asked.current !== address)
        connection.load({ from: Math.max(gap.from, id - AROUND), to: Math.min(gap.to, id + AROUND) }).catch(() => undefined);
      asked.current = address;
      return;
    }
    followed.current = address;
    const index = placeOf(items, id);
    const item = items[index];
    if (!item) return;
    folds.set(item.key, true);
    go(index);
  }, [address, items, loaded, gaps, folds, go, connection]);
}

/** Where the row of an event stands: its own, the step or the fold that has it, else the one before it. */
function placeOf(items: readonly StreamItem[], id: number): number {
  const own = items.findIndex((item) => holds(item, id));
  return own >= 0 ? own : items.findLastIndex((item) => item.type !== 'gap' && item.id <= id);
}

function holds(item: StreamItem, id: number): boolean {
  if (item.type === 'fold') return item.rows.some((row) => holds(row, id));
  if (item.type === 'gap') return false;
  return item.id === id || (item.type === 'step' && (item.action?.id === id || item.observation?.id === id));
}
