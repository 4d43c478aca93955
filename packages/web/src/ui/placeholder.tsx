import { type ReactNode, useEffect, useState } from 'react';

/** Shows its words only after 300 ms: what is faster than that needs none. */
export function Late({ children }: { readonly children: ReactNode }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return isLate ? <p className="text-ink-3">{children}</p> : null;
}

/** A panel with nothing in it yet: what will be here, and how it comes. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="notice">
      <b>{title}</b>
      {children && <span>{children}</span>}
    </div>
  );
}
