import { inject } from 'vitest';
import type { EngineKind } from './open-engine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly engine: EngineKind;
  }
}

/** What is tested on either engine is tested on this one now: on Docker by `npm test`, on Podman by `npm run test:long`. */
export const engineOfRun = (): EngineKind => inject('engine');
