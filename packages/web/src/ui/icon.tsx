import type { LucideIcon } from 'lucide-react';
import { memo } from 'react';
import { cx } from './cx.ts';

export const Icon = memo(function Icon({ of: Of, small }: { readonly of: LucideIcon; readonly small?: boolean }) {
  return <Of className={cx('icon', small && 'icon-small')} aria-hidden="true" />;
});

/** The mark: a bar and a curve that joins it. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round">
      <path d="M3.2 4.4h11.6" />
      <path d="M9 4.4c0 3.4-3.6 4-3.6 7.2 0 1.6 1.2 2.8 3.6 2.8s3.6-1.2 3.6-2.8" />
    </svg>
  );
}

export type Glyph = 'running' | 'waiting' | 'done' | 'failed' | 'held' | 'limited' | 'dot' | 'connected';

/** The shape of a state; colour only repeats it. */
export function StateGlyph({ glyph }: { readonly glyph: Glyph }) {
  return (
    <svg className="glyph" data-glyph={glyph} viewBox="0 0 14 14" fill="none" stroke="currentColor" aria-hidden="true">
      {SHAPES[glyph]}
    </svg>
  );
}

const ring = (
  <>
    <circle cx="7" cy="7" r="5.4" strokeOpacity=".28" strokeWidth="1.8" />
    <path className="glyph-spin" d="M7 1.6A5.4 5.4 0 0 1 12.4 7" strokeWidth="1.8" strokeLinecap="round" />
  </>
);

const dot = <circle cx="7" cy="7" r="3.4" fill="currentColor" stroke="none" />;

const SHAPES = {
  running: ring,
  limited: ring,
  waiting: (
    <>
      <rect x="2.2" y="2.2" width="9.6" height="9.6" rx="1.6" transform="rotate(45 7 7)" strokeWidth="1.6" />
      <circle cx="7" cy="7" r="1.8" fill="currentColor" stroke="none" />
    </>
  ),
  done: (
    <>
      <circle cx="7" cy="7" r="6.2" fill="currentColor" stroke="none" opacity=".16" />
      <path d="M4.2 7.2 6.2 9.2 9.9 5.2" strokeWidth="1.7" strokeLinecap="round" strokeLinejoin="round" />
    </>
  ),
  failed: (
    <>
      <path d="M7 1.4 13 12H1Z" strokeWidth="1.5" strokeLinejoin="round" />
      <path d="M7 5.4v3" strokeWidth="1.6" strokeLinecap="round" />
      <circle cx="7" cy="10.2" r=".9" fill="currentColor" stroke="none" />
    </>
  ),
  held: (
    <>
      <circle cx="7" cy="7" r="5.4" strokeWidth="1.5" />
      <path d="M5.6 5v4M8.4 5v4" strokeWidth="1.5" strokeLinecap="round" />
    </>
  ),
  dot,
  connected: dot,
} as const satisfies Record<Glyph, React.ReactNode>;
