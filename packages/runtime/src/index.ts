export { createLocalDriver, type LocalDriverOptions } from './drivers/local/local-driver.ts';
export { createNoneDriver, type NoneDriverOptions } from './drivers/none-driver.ts';
export { DEFAULT_LIMITS, limitsOf, type Limits } from './drivers/control-group.ts';
export type { Driver, DriverName, Probe } from './drivers/driver.ts';
export type { ExecutorFolder } from './drivers/executor-folder.ts';
export type { ExecutorConfig } from './executor-api.ts';
export { createRuntimes, type RuntimesOptions, type SandboxRuntimes } from './sandboxes.ts';
export { StartFailed } from './start-phase.ts';
