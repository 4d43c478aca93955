/** The conformance suite: everything that clients of every generation rely on, asked of a running server from outside. */

export { hasFailed, type CheckResult, type Conformance } from './check.ts';
export { renderBadge, renderJson, renderMarkdown, renderTable } from './report/renderings.ts';
export { conform, type ConformOptions } from './run/conform.ts';
export { readDeviations, type Deviations } from './run/deviations.ts';
export type { Frame } from './target/frames.ts';

// For programs that choose among the checks, count what came of them, or bring a model of their own.
/** @public */
export { LEVELS, levelOf, type Check, type Level } from './check.ts';
/** @public */
export { CHECKS } from './levels/index.ts';
/** @public */
export type { ModelStep } from './model/model-step.ts';
/** @public */
export { startScriptedModel, type ScriptedModel } from './model/scripted-model.ts';
/** @public */
export { tally } from './report/renderings.ts';
/** @public */
export { deviationOf } from './run/deviations.ts';
