import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { stored } from '../../lib/stored.ts';

export interface WorkbenchState {
  readonly isShown: boolean;
  /** One column: the tabs are always there, and the conversation is one of them. */
  readonly isPhone: boolean;
  readonly set: (isShown: boolean) => void;
  readonly toggle: () => void;
}

const phone = matchMedia('(max-width: 759px)');
const narrow = matchMedia('(max-width: 899px)');

/** Whether the workbench is there; remembered. Where it would cover the stream it begins hidden. */
export function useWorkbench(): WorkbenchState {
  const [isShown, setShown] = useState(() => !narrow.matches && stored.get('workbench') !== 'hidden');
  const [isPhone, setPhone] = useState(phone.matches);
  useEffect(() => {
    const update = () => setPhone(phone.matches);
    phone.addEventListener('change', update);
    return () => phone.removeEventListener('change', update);
  }, []);
  return useMemo(() => {
    const set = (next: boolean) => {
      setShown(next);
      stored.set('workbench', next ? null : 'hidden');
    };
    return { isShown, isPhone, set, toggle: () => set(!isShown) };
  }, [isShown, isPhone]);
}

const wide = matchMedia('(min-width: 1600px)');

/** Whether the window is wide enough for the list of conversations beside the open one. */
export function useIsWide(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      wide.addEventListener('change', onChange);
      return () => wide.removeEventListener('change', onChange);
    },
    () => wide.matches,
  );
}
