import type { ReactNode } from 'react';

/** Name and acts of the file that is open. */
export function FileBar({ path, children }: { readonly path: string; readonly children: ReactNode }) {
  return (
    <div className="panel-bar">
      <span className="mono truncate" title={path}>
        {path}
      </span>
      <span className="flex-1" />
      {children}
    </div>
  );
}
