import type { ComponentProps, MouseEvent } from 'react';
import { navigate } from '../lib/address.tsx';

/** A link within the app: followed without a new page, unless the person asks for a tab or window of its own. */
export function Link({ to, ...rest }: Omit<ComponentProps<'a'>, 'href' | 'onClick'> & { readonly to: string }) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return <a {...rest} href={to} onClick={follow} />;
}
