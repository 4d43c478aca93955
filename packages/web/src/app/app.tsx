import { Outlet, useMatch } from 'react-router';
import { KeyMap } from './key-map.tsx';
import { KeyboardProvider } from './keyboard-provider.tsx';
import { Palette } from './palette.tsx';
import { paths } from '../lib/paths.ts';
import { AppCommands } from './app-commands.tsx';

/** The frame of every page: one container that everything adapts to, the keyboard, the palette. */
export function App() {
  const isWatching = useMatch(paths.shared) !== null;
  return (
    <KeyboardProvider>
      <div className="app">
        {!isWatching && (
          <a className="skip-link" href="#composer">
            To the composer
          </a>
        )}
        <AppCommands />
        <Outlet />
        <Palette />
        <KeyMap />
      </div>
    </KeyboardProvider>
  );
}
