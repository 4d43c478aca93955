import { ApiError, type ConversationSnapshot, type Gap } from '@tendon/client';
import { useEffect, useState } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import type { StreamItem } from './stream-item.ts';
import type { VirtualRows } from './use-virtual-rows.ts';

/** How many events one step up or down loads. */
export const STEP = 200;
/** Events above are loaded when so many pixels of the loaded ones are left. */
const NEAR_PX = 800;
/** A page that is open for long forgets the oldest events beyond so many, as long as nobody reads them. */
const MOST = 3_000;
const REMEMBERED = 1_000;

export interface Earlier {
  readonly isLoading: boolean;
  /** Why the last step could not be loaded, or empty. */
  readonly problem: string;
  /** Tries the last step again. */
  readonly load: () => void;
  /** Loads the very first events. */
  readonly loadFirst: () => Promise<void>;
}

/** Loads what is missing above and between the rows as the reader comes near, and forgets what is far above the end. */
export function useEarlier(props: {
  readonly snapshot: ConversationSnapshot;
  readonly items: readonly StreamItem[];
  readonly list: VirtualRows;
  /** What is missing above the first event. */
  readonly missing: Gap | undefined;
}): Earlier {
  const { snapshot, items, list, missing } = props;
  const { connection } = useConversationActs();
  const { events, loaded } = snapshot;
  const [asked, setAsked] = useState<string>();
  const [problem, setProblem] = useState('');
  const load = (range: Gap) => {
    setAsked(`${range.from} ${range.to}`);
    setProblem('');
    connection.load(range).catch((error: unknown) => setProblem(error instanceof ApiError ? error.message : String(error)));
  };
  const near = loaded ? nearestGap(items, list, missing) : undefined;
  const [from, to] = [near?.from, near?.to];
  const isAsked = asked === `${from} ${to}`;
  useEffect(() => {
    if (from !== undefined && to !== undefined && !isAsked) load({ from, to });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- it is about the range alone
  }, [from, to, isAsked]);

  const forgets = loaded && list.isAtEnd && events.length > MOST;
  const last = forgets ? events[events.length - REMEMBERED]!.id : undefined;
  useEffect(() => {
    if (last !== undefined) connection.forget(last);
  }, [connection, last]);

  return {
    isLoading: near !== undefined && problem === '',
    problem,
    load: () => void (near && load(near)),
    loadFirst: async () => missing && connection.load({ from: missing.from, to: Math.min(missing.to, missing.from + STEP) }),
  };
}

/** The part of a gap that is loaded next; nothing while none is near. */
function nearestGap(items: readonly StreamItem[], list: VirtualRows, missing: Gap | undefined): Gap | undefined {
  if (missing && list.above <= NEAR_PX) return endOf(missing);
  for (const { index } of list.rows) {
    const item = items[index];
    if (item?.type !== 'gap' || index === list.first) continue;
    // From below its end comes near first, from above its beginning.
    return index < list.first ? endOf(item) : { from: item.from, to: Math.min(item.to, item.from + STEP) };
  }
  return undefined;
}

function endOf({ from, to }: Gap): Gap {
  return { from: Math.max(from, to - STEP), to };
}
