export { anyCharacter } from './any-character.ts';
export { freePort } from './free-port.ts';
export { lastOf, waitFor } from './wait-for.ts';
export { isFull, itInFull, runs, someOf } from './runs.ts';
export { Seen } from './seen.ts';
