/** Secrets, and the masking of their values: the engine masks what it appends, the executor what it prints. */
export { bindSecret, mayGoTo, wrongHost, type BoundSecret } from './bound-secret.ts';
export { createLiveMask, type LiveMask } from './live-mask.ts';
export { createMask, type Mask, type MaskedStream } from './secret-mask.ts';
export { MIN_SECRET_LENGTH, Secret } from './secret.ts';
