import { createHash } from 'node:crypto';
import type { ServerNode } from '@tendon/core';

/**
 * The server that a name is nearest to, of those that take conversations: the same wherever it is asked. Rendezvous hashing: where a server
 * comes or goes, only what is nearest to it moves. `undefined`: none takes any.
 */
export function nearestServer(name: string, servers: readonly ServerNode[]): ServerNode | undefined {
  const weight = ({ id }: ServerNode): string => createHash('sha256').update(`${id}\0${name}`).digest('hex');
  const [nearest] = servers.filter((server) => server.takesConversations).toSorted((a, b) => (weight(a) < weight(b) ? -1 : 1));
  return nearest;
}

/** Where what is delivered to a trigger is counted, and where its schedule fires. */
export function triggerName(id: string): string {
  return `trigger ${id}`;
}
