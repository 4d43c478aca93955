import { useEffect, useState, type ReactNode } from 'react';

/** Shows its words only after 300 ms: what is faster than that needs none. */
export function Late({ children }: { readonly children: ReactNode }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return isLate ? <p className="text-ink-3">{children}</p> : null;
}
