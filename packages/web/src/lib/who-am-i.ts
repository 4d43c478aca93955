import { queryOptions } from '@tanstack/react-query';
import { tendon } from './server.ts';

export const whoAmIQuery = queryOptions({ queryKey: ['whoami'], queryFn: () => tendon.users.me(), staleTime: 60_000, retry: false });

/** Whether somebody has signed in here at an identity provider, now or before: the server leaves a mark that says nothing else. */
export function hasSignedIn(): boolean {
  return /(?:^|; )tendon_user=1(?:;|$)/.test(document.cookie);
}
