export { howHostEnded, type BrowserRequest, type HostConfig, type HostLine } from './browser-host.ts';
export {
  SUSPENDED_NAME,
  BUSY,
  GIT_BROKER_NAME,
  OUTPUT_LIMITS,
  PLUGIN_NAMES,
  PROTOCOL,
  type Alive,
  type EffectReport,
  type ExecuteLine,
  type ExecuteRequest,
  type ExecutorConfig,
  type LineRange,
  type LinesToEdit,
  type OutputLimits,
  type ExecutorEndpoint,
  type ExecutorFolders,
  type ExecutorShell,
  type PluginName,
  type PluginStart,
  type ProcessRequest,
  type ProtocolRange,
  type ServedPort,
  type SuspendAnswer,
} from './executor-api.ts';
export { installCommand, KERNEL_PACKAGES_NAME, readPythonKind, sharedKind, type PackagesLine, type PythonKind } from './python-packages.ts';
export { shellQuote } from './shell-quote.ts';
