/**
 * Which server has a session of Socket.IO: its id says so, in each request of a client that polls. No cookie is needed, so it works from
 * other origins and for programs, and a load balancer may send each request wherever it likes. A server's id is no secret.
 */
const MARK = '~';

export function sessionIdOf(random: string, server: string): string {
  return `${random}${MARK}${server}`;
}

/** `undefined`: it names none. */
export function serverOfSession(id: string): string | undefined {
  const at = id.indexOf(MARK);
  return at < 0 || at === id.length - 1 ? undefined : id.slice(at + 1);
}
