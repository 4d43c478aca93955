import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { serverInfoQuery } from '../lib/server.ts';
import { type Glyph, StateGlyph } from '../ui/icon.tsx';
import { type PlainText, t, textKey } from '../lib/language/text.ts';

const DRIVERS: Readonly<Record<string, PlainText>> = {
  local: textKey('Local sandbox'),
  docker: textKey('Docker'),
  none: textKey('No sandbox'),
};
const STRENGTHS: Readonly<Record<string, PlainText>> = {
  container: textKey('container isolation'),
  'os-sandbox': textKey('OS-isolated'),
};

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
  if (strength === 'none') return t('No isolation: commands run as you, on this machine');
  const { [driver]: name } = DRIVERS;
  const { [strength]: isolation } = STRENGTHS;
  return `${name ? t(name) : driver}, ${isolation ? t(isolation) : strength}`;
}
