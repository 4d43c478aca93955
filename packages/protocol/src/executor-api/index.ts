export { howHostEnded, type BrowserWish, type HostConfig, type HostLine } from './browser-host.ts';
export {
  ASLEEP_NAME,
  BUSY,
  PLUGIN_NAMES,
  PROTOCOL,
  type Alive,
  type EffectReport,
  type ExecuteLine,
  type ExecuteRequest,
  type ExecutorConfig,
  type PluginName,
  type PluginStart,
  type ProcessWish,
  type ProtocolRange,
  type ServedPort,
  type SleepAnswer,
} from './executor-api.ts';
export { GIT_BROKER_NAME } from './git-broker-name.ts';
export { installCommand } from './install-command.ts';
export type { LineRange, LinesToEdit } from './lines-to-edit.ts';
export { OUTPUT_LIMITS, type OutputLimits } from './output-limits.ts';
export { KERNEL_PACKAGES_NAME, type PackagesLine } from './packages-request.ts';
export { readPythonKind, sharedKind, type PythonKind } from './python-kind.ts';
export { shellQuote } from './shell-quote.ts';
