import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { tendon } from '../../lib/tendon.ts';

const UNDO_MS = 10_000;

/** Deleting that can be taken back for 10 s: the server is asked only then, or when the page is left. */
export function useDeletion() {
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
