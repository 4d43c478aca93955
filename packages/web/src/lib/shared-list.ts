/**
 * Lists that all tabs of this browser share, under a name each.
 *
 * A change is made to what is stored at that moment, not to what this tab saw last: two tabs do not lose each other's entries. Where
 * nothing can be stored, a list holds for this page.
 */
import { stored } from './stored.ts';

export interface SharedList<T> {
  readonly of: (name: string) => readonly T[];
  readonly change: (name: string, change: (entries: readonly T[]) => readonly T[]) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

interface Known<T> {
  /** As it was stored. */
  readonly text: string | null;
  readonly entries: readonly T[];
}

/** `read` makes an entry of what was stored, or nothing of what is none. */
export function sharedList<T>(read: (entry: unknown) => T | undefined): SharedList<T> {
  const known = new Map<string, Known<T>>();
  const listeners = new Set<() => void>();
  const of = (name: string): readonly T[] => {
    const text = stored.get(name);
    const found = known.get(name);
    if (found?.text === text) return found.entries;
    const entries = entriesIn(text).flatMap((entry) => read(entry) ?? []);
    known.set(name, { text, entries });
    return entries;
  };
  const notify = () => {
    for (const listener of listeners) listener();
  };
  return {
    of,
    change(name, change) {
      const entries = change(of(name));
      stored.set(name, entries.length === 0 ? null : JSON.stringify(entries));
      known.set(name, { text: stored.get(name), entries });
      notify();
    },
    subscribe(listener) {
      if (listeners.size === 0) addEventListener('storage', notify);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) removeEventListener('storage', notify);
      };
    },
  };
}

function entriesIn(text: string | null): readonly unknown[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}
