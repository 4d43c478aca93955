/**
 * The first id that a client wants, from the last one it has. Everything that is not a number ≥ −1 (frontends really send
 * `undefined` after a reconnect without events) means all.
 */
export function cursorFrom(latestEventId: unknown): number {
  const id = typeof latestEventId === 'string' && latestEventId.trim() !== '' ? Number(latestEventId) : latestEventId;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= -1 ? id + 1 : 0;
}
