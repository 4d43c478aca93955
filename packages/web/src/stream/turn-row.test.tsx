// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import type { TurnItem } from './stream-item.ts';
import { StickyTurn } from './turn-row.tsx';

afterEach(cleanup);

const TASK = 'Amounts in other currencies are a cent too low. Find out why and mend it';

function header(title: string, text = TASK): string | null {
  const turn: TurnItem = { type: 'turn', id: 1, key: '1', text, images: [], files: [], at: '2026-01-01T10:38:00Z' };
  render(<StickyTurn title={title} items={[turn]} first={0} isAtTop={false} onGo={() => undefined} />);
  const shown = document.querySelector('.turn-text')?.textContent ?? null;
  cleanup();
  return shown;
}

it('CL1335: the message that what is in view belongs to is named above it, unless the title of the page says the same', () => {
  expect(header('Round currencies as the bank does')).toBe(TASK);
  expect(header(TASK)).toBeNull();
  expect(header('Amounts in other currencies are a cent too low. Find out…')).toBeNull();
  expect(header('Amounts')).toBe(TASK);
  expect(header('', 'go on')).toBe('go on');
  expect(header(TASK, `${TASK}\nand test it`)).toBeNull();
});
