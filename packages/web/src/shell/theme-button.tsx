import { Moon, Sun } from 'lucide-react';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { theme, useTheme } from './theme.ts';

export function ThemeButton() {
  const now = useTheme();
  return (
    <IconButton label={now === 'dark' ? 'Switch to light' : 'Switch to dark'} onClick={theme.toggle}>
      <Icon of={now === 'dark' ? Moon : Sun} />
    </IconButton>
  );
}
