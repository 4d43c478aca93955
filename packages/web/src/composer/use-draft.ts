import { useState } from 'react';
import { stored } from '../lib/stored.ts';

/** Text that survives leaving the page; kept per place, e.g. `home` or a conversation's id. */
export function useDraft(place: string): readonly [string, (text: string) => void] {
  const name = `draft.${place}`;
  const [text, setText] = useState(() => stored.get(name) ?? '');
  const keep = (next: string) => {
    setText(next);
    stored.set(name, next === '' ? null : next);
  };
  return [text, keep];
}
