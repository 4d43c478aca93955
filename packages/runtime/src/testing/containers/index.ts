/** Container engines of the tests' own. */
/** @internal */
export { containersOf } from './docker-under-test.ts';
/** @internal */
export { engineOfRun } from './engine-of-run.ts';
export { openEngine, type EngineKind, type TestEngine } from './open-engine.ts';
