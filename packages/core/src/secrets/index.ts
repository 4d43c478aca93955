/** The masking of secrets alone, for the program inside the sandbox. */
export { createMask, type Mask, type MaskedStream } from './secret-mask.ts';
export { MIN_SECRET_LENGTH, Secret } from './secret.ts';
