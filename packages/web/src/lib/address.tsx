import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';

/** Where the browser is. A new one comes with every navigation, also with one to the same place. */
export interface Address {
  readonly pathname: string;
  readonly hash: string;
}

const here = (): Address => ({ pathname: location.pathname, hash: location.hash });

const AddressContext = createContext<Address | undefined>(undefined);

const moves = new EventTarget();

interface AddressProviderProps {
  readonly children: ReactNode;
  /** Loads what the page at a place needs. */
  readonly prepare: (address: Address) => Promise<unknown>;
}

/** Gives what stands in it the address. The page that is there stays until what the next one needs is loaded. */
export function AddressProvider({ children, prepare }: AddressProviderProps) {
  const [address, setAddress] = useState(here);
  useEffect(() => {
    let newest: Address;
    const onMove = async () => {
      const to = (newest = here());
      // What cannot be loaded is reported where it is drawn.
      await prepare(to).catch(() => undefined);
      if (to === newest) setAddress(to);
    };
    moves.addEventListener('move', onMove);
    addEventListener('popstate', onMove);
    return () => {
      moves.removeEventListener('move', onMove);
      removeEventListener('popstate', onMove);
    };
  }, [prepare]);
  return <AddressContext value={address}>{children}</AddressContext>;
}

export function useAddress(): Address {
  const [first] = useState(here);
  return useContext(AddressContext) ?? first;
}

/** Goes to a place in the app, given by `paths`. */
export function navigate(path: string): void {
  const isHere = new URL(path, location.href).href === location.href;
  history[isHere ? 'replaceState' : 'pushState'](null, '', path);
  moves.dispatchEvent(new Event('move'));
}
