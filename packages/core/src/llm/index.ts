export { createDemoProvider } from './demo/demo-provider.ts';
export { parseScript } from './script-file.ts';
export {
  createScriptedProvider,
  type Script,
  type ScriptedAnswer,
  type ScriptedFailure,
  type ScriptedOptions,
  type ScriptedStep,
  type ScriptedToolCall,
} from './scripted-provider.ts';
