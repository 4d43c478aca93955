import { useEffect, useState } from 'react';

const DEAD_MS = 600;

/** Whether the component has only just appeared: what was pressed for something else must not act in it. */
export function useIsNew(): boolean {
  const [isNew, setNew] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setNew(false), DEAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return isNew;
}
