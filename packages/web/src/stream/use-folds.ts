import { useMemo, useState } from 'react';

export interface Folds {
  /** The choice by hand where there is one, else `byDefault`. */
  readonly isOpen: (key: string, byDefault: boolean) => boolean;
  readonly set: (key: string, isOpen: boolean) => void;
}

/** What was folded or opened by hand; it stays until the page is left. */
export function useFolds(): Folds {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  // The same until something is folded or opened: rows are not drawn again for it.
  return useMemo(
    () => ({
      isOpen: (key, byDefault) => chosen.get(key) ?? byDefault,
      set: (key, isOpen) => setChosen((before) => new Map(before).set(key, isOpen)),
    }),
    [chosen],
  );
}
