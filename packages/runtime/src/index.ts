export { createLocalDriver, type LocalDriverOptions } from './drivers/local/local-driver.ts';
export { createRemoteDriver } from './drivers/remote/remote-driver.ts';
export type { RemoteHostOptions } from './drivers/remote/remote-hosts.ts';
export { createDockerDriver } from './drivers/docker/docker-driver.ts';
export { INJECTED_MARK, injectedFolder } from './drivers/docker/injected.ts';
export type { DockerDriverOptions } from './drivers/docker/docker-driver-options.ts';
export { PLACEMENT_FIELDS, type KubernetesOptions } from './drivers/kubernetes/kubernetes-options.ts';
export { limitsOf } from './processes/control-group.ts';
export { createNoneDriver, type NoneDriverOptions } from './drivers/none/none-driver.ts';
export type { Limits } from './processes/control-group.ts';
export type { SandboxDriver, DriverName, IdleMode, Probe, Reaper, RemoteSandboxes, SandboxHostInfo } from './drivers/driver.ts';
export { holdFolder, type HeldFolder } from './workspace/held-folder.ts';
export { isWithin } from './workspace/held-folder.ts';
export { removeFolder } from './disk/remove-folder.ts';
export { otherReapers } from './drivers/other-reapers.ts';
export type { ExecutorFolder } from './drivers/start/executor-folder.ts';
export {
  OUTPUT_LIMITS,
  PLUGIN_NAMES,
  type ExecutorConfig,
  type OutputLimits,
  type PluginName,
  type PluginStart,
  type ProcessRequest,
  type ServedPort,
  type SuspendAnswer,
} from '@tendon/protocol/executor-api';
export type { ExecutorAddress } from './transport/executor-connection.ts';
export {
  EXECUTOR_API,
  type HostedNetwork,
  type HostQuestion,
  type HostedSandbox,
  type HostCapacity,
  type HostInfo,
  type StartRequest,
  type WatchLine,
} from './executor-host-api.ts';
export type { SandboxPlan } from './sandbox/sandbox-context.ts';
export { exchange } from './transport/exchange.ts';
export { relay } from './transport/exchange.ts';
export { replaceSandboxes } from './pool/replace-sandboxes.ts';
export type { SandboxRecord } from './sandbox/sandbox-record.ts';
export type { SandboxCounts } from './pool/sandbox-entry.ts';
export { newIncarnation } from './incarnation.ts';
export { createSandboxPool } from './pool/create-sandbox-pool.ts';
export type { SandboxPoolOptions, SandboxPool } from './pool/sandbox-pool.ts';
export { dialOrigin } from './egress/dial.ts';
export type { Dial } from './egress/dial.ts';
export { createPublicDial, type PublicDialOptions } from './egress/public-dial.ts';
export type { GitAccess, GitLogin } from './egress/git-broker.ts';
export { hostPattern, isAskable, isWider, type NetworkMode, type NetworkPolicy, type NetworkReach } from './egress/network-policy.ts';
export type { ReachedHost, ReachedStore } from './egress/reached-hosts.ts';
export type { RefusedHost } from './egress/refused-hosts.ts';
export type { AskPerson, RemoteGit } from './egress/egress.ts';
export { HOP_HEADERS } from './transport/exchange.ts';
export { joinStreams, letGoOfStill, refuseUpgrade } from '@tendon/protocol/node';
export { NotServed, type SandboxPorts } from './sandbox/sandbox-ports.ts';
export type { HibernateRequest, IdlePlan } from './pool/idle-sandboxes.ts';
