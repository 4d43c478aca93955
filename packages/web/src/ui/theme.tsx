import { Moon, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { stored } from '../lib/stored.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import { t } from '../lib/language/text.ts';

type ThemeChoice = 'light' | 'dark' | 'system';

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

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** What is on screen now. */
function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => (document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'));
}

/** What a person chose. */
export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, choice);
}

export function ThemeButton() {
  const now = useTheme();
  return (
    <IconButton label={now === 'dark' ? t('Switch to light') : t('Switch to dark')} onClick={theme.toggle}>
      <Icon of={now === 'dark' ? Moon : Sun} />
    </IconButton>
  );
}
