export { freePort } from './free-port.ts';
export { lastOf, patiently } from './patiently.ts';
export { Seen } from './seen.ts';
