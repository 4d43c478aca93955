// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import type { TurnItem } from './stream-item.ts';
import { ConversationContext, type OpenConversation } from '../conversation/open-conversation.ts';
import { StickyTurn, TurnRow } from './turn-row.tsx';

afterEach(cleanup);

const TASK = 'Amounts in other currencies are a cent too low. Find out why and mend it';

const turnOf = (text: string): TurnItem => ({ type: 'turn', id: 1, key: '1', text, images: [], files: [], at: '2026-01-01T10:38:00Z' });

function header(title: string, text = TASK): string | null {
  const turn = turnOf(text);
  const { container } = render(<StickyTurn title={title} items={[turn]} first={0} isAtTop={false} onGo={() => undefined} />);
  const shown = container.querySelector('.turn-text')?.textContent ?? null;
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

/** What the row of a message says, opened or not. */
function row(text: string, isOpen: boolean): string {
  const folds = { isOpen: () => isOpen, set: () => undefined };
  const { container } = render(
    <ConversationContext value={{} as OpenConversation}>
      <TurnRow item={turnOf(text)} position={1} size={1} isUnread={false} folds={folds} />
    </ConversationContext>,
  );
  const parts = [...container.querySelectorAll('.turn-text, .turn-whole')].map(({ textContent }) => textContent);
  cleanup();
  return parts.join('|');
}

it('CL1339: a message is shown once: its first line, and below it the rest when it is opened', () => {
  const long = 'word '.repeat(100).trim();
  expect(row('one\n\ntwo\nthree', true)).toBe('one|two\nthree');
  expect(row('one\n\ntwo\nthree', false)).toBe('one');
  expect(row(long, true)).toBe(long);
  expect(row(long, false).length).toBeLessThan(310);
});
