import { Search } from 'lucide-react';
import { useContext } from 'react';
import { Link } from 'react-router';
import { CommandContext } from '../../lib/commands.ts';
import { keyText } from '../../lib/key-text.ts';
import { paths } from '../../lib/paths.ts';
import { ThemeButton } from '../../ui/theme-button.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Mark } from '../../ui/mark.tsx';

export function HomeBar() {
  const { openPalette } = useContext(CommandContext);
  return (
    <header className="top-bar">
      <Link className="brand" to={paths.home} aria-label="Tendon, home">
        <Mark />
        Tendon
      </Link>
      <span className="flex-1" />
      <button type="button" className="search only-wide" onClick={openPalette}>
        <Icon of={Search} small />
        <span className="flex-1">Search or run a command</span>
        <kbd aria-hidden="true">{keyText('mod+k')}</kbd>
      </button>
      <span className="flex-1" />
      <IconButton label="Search or run a command" className="only-narrow" onClick={openPalette}>
        <Icon of={Search} />
      </IconButton>
      <ThemeButton />
    </header>
  );
}
