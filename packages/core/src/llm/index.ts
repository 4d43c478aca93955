export { createLlmProvider, type CreateLlmProviderOptions } from './create-llm-provider.ts';
export { findLocalEndpoints, type LocalEndpoint } from './local-endpoints.ts';
export { probeModel, type ModelProbe } from './probe-model.ts';
export { routeModel } from './model-name.ts';
export { findModel, listModels, type ModelFacts } from './prices.ts';
export {
  createScriptedProvider,
  type Script,
  type ScriptedAnswer,
  type ScriptedFailure,
  type ScriptedOptions,
  type ScriptedStep,
  type ScriptedToolCall,
} from './scripted-provider.ts';
export { withFallback } from './with-fallback.ts';
export { withRetries, type RetryOptions } from './with-retries.ts';
