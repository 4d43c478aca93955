import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { serverInfoQuery } from '../lib/server.ts';
import { type Glyph, StateGlyph } from '../ui/icon.tsx';

const DRIVERS: Readonly<Record<string, string>> = { local: 'Local sandbox', docker: 'Docker', none: 'No sandbox' };
const STRENGTHS: Readonly<Record<string, string>> = { container: 'container isolation', 'os-sandbox': 'isolated by the system' };

/** Connection, driver and isolation in words; the page adds its own facts at the right. */
export function StatusBar({
  glyph,
  connection,
  children,
}: {
  readonly glyph: Glyph;
  readonly connection: string;
  readonly children?: ReactNode;
}) {
  const { data } = useQuery(serverInfoQuery);
  return (
    <footer className="status-bar">
      <span>
        <StateGlyph glyph={glyph} />
        {connection}
      </span>
      {data?.sandbox && <span>{sandboxWords(data.sandbox)}</span>}
      <span className="flex-1" />
      {children}
    </footer>
  );
}

function sandboxWords({ driver, strength }: { readonly driver: string; readonly strength: string }): string {
  if (strength === 'none') return 'No isolation: commands run as you, on this machine';
  return `${DRIVERS[driver] ?? driver}, ${STRENGTHS[strength] ?? strength}`;
}
