import { Moon, Sun } from 'lucide-react';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import { theme, useTheme } from '../lib/theme.ts';

export function ThemeButton() {
  const now = useTheme();
  return (
    <IconButton label={now === 'dark' ? 'Switch to light' : 'Switch to dark'} onClick={theme.toggle}>
      <Icon of={now === 'dark' ? Moon : Sun} />
    </IconButton>
  );
}
