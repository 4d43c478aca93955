import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { conversationsQuery } from '../../lib/queries.ts';

/** Whether the last request got through: on pages without a connection of their own. */
export function ServerState({ children }: { readonly children: (isReachable: boolean) => ReactNode }) {
  const { isError } = useQuery(conversationsQuery);
  return children(!isError);
}
