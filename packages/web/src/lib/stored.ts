import { useEffect, useState } from 'react';

/** What this browser remembers, under `tendon.`. Storage may be forbidden or full: then nothing is remembered, and nothing breaks. */
export const stored = {
  get(name: string): string | null {
    try {
      return localStorage.getItem(`tendon.${name}`);
    } catch {
      return null;
    }
  },
  set(name: string, value: string | null): void {
    try {
      if (value === null) localStorage.removeItem(`tendon.${name}`);
      else localStorage.setItem(`tendon.${name}`, value);
    } catch {
      // The value holds for this page.
    }
  },
};

/** The fields that show a draft now. */
const fields = new Map<string, (text: string) => void>();

/** Below what is written there already. */
export function appendToDraft(place: string, text: string): void {
  const name = `draft.${place}`;
  const next = [stored.get(name)?.trimEnd(), text].filter(Boolean).join('\n\n');
  stored.set(name, next);
  fields.get(name)?.(next);
}

/** Text that survives leaving the page; stored per place, e.g. `home` or a conversation's id. */
export function useDraft(place: string): readonly [string, (text: string) => void] {
  const name = `draft.${place}`;
  const [text, setText] = useState(() => stored.get(name) ?? '');
  useEffect(() => {
    fields.set(name, setText);
    return () => void fields.delete(name);
  }, [name]);
  const keep = (next: string) => {
    setText(next);
    stored.set(name, next === '' ? null : next);
  };
  return [text, keep];
}
