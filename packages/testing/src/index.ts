export { freePort } from './free-port.ts';
export { lastOf, patiently } from './patiently.ts';
export { runs, someOf } from './runs.ts';
export { Seen } from './seen.ts';
