import type { ReactNode } from 'react';

/** A panel with nothing in it yet: what will be here, and how it comes. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="notice">
      <b>{title}</b>
      {children && <span>{children}</span>}
    </div>
  );
}
