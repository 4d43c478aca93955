import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { stored } from '../lib/stored.ts';

const DEFAULT = 43.5;
const [LEAST, MOST] = [25, 70];

/** Between stream and workbench: drag, arrows 2 %, Home and End, double click or ⏎ for the default. Stored for the next visit. */
export function Splitter() {
  const [at, setAt] = useState(() => Number.parseFloat(stored.get('split') ?? '') || DEFAULT);
  const move = (percent: number) => {
    const next = Math.round(Math.min(MOST, Math.max(LEAST, percent)) * 10) / 10;
    setAt(next);
    stored.set('split', next === DEFAULT ? null : `${next}%`);
    document.documentElement.style.setProperty('--split', `${next}%`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = { ArrowLeft: at - 2, ArrowRight: at + 2, Home: LEAST, End: MOST, Enter: DEFAULT }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    move(target);
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left, width } = event.currentTarget.closest('.work')!.getBoundingClientRect();
    move(((event.clientX - left) / width) * 100);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator that can be moved is a control
    <div
      className="splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label="Resize the workbench"
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={Math.round(at)}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onDoubleClick={() => move(DEFAULT)}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  );
}
