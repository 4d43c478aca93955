import { useSyncExternalStore } from 'react';
import { stored } from './stored.ts';

export type ThemeChoice = 'light' | 'dark' | 'system';

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function choice(): ThemeChoice {
  const value = stored.get('theme');
  return value === 'light' || value === 'dark' ? value : 'system';
}

function apply(): void {
  const chosen = choice();
  document.documentElement.dataset.theme = chosen === 'system' ? (system.matches ? 'dark' : 'light') : chosen;
  for (const listener of listeners) listener();
}
system.addEventListener('change', apply);

export const theme = {
  choose(chosen: ThemeChoice): void {
    stored.set('theme', chosen === 'system' ? null : chosen);
    apply();
  },
  toggle: () => theme.choose(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'),
};

/** What is on screen now. */
export function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => (document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'),
  );
}
