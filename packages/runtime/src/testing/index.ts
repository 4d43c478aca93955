/** Real sandboxes for the tests of every package, and what these look into: processes, ports, the proxy. */
/** @internal */
export { createProxy } from '../egress/listen-proxy.ts';
export type { GitLogin } from '../egress/git-broker.ts';
export type { NetworkPolicy } from '../egress/network-policy.ts';
/** @internal */
export { killPids } from '../processes/control-group.ts';
/** @internal */
export { findProcesses, isAlive, signalProcess } from '../processes/process-identity.ts';
/** @internal */
export { NotServed, type SandboxPorts } from '../sandbox/sandbox-ports.ts';
/** @internal */
export { startResolver } from './resolver.ts';
export { createTestSandboxes, execute, executorFolder, never, type TestSandboxes } from './sandboxes.ts';
/** @internal */
export { anchorOf, leftOf, observe, run, runAction, until, wallClock, type Ran } from './sandboxes.ts';
