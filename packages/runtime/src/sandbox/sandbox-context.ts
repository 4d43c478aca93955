import type { Clock } from '@tendon/core';
import type { OutputLimits, PluginName } from '@tendon/protocol/executor-api';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { PackageSource } from '../egress/package-proxy.ts';
import type { Egress } from '../egress/egress.ts';
import type { ProcessorWeights } from '../processes/processor-weights.ts';
import type { SecretsFor } from './action-stream.ts';
import type { Reapers } from './reapers.ts';
import type { SandboxOwners } from './sandbox-owners.ts';
import type { SandboxPlaces } from './sandbox-places.ts';
import type { SandboxRecords } from './sandbox-record.ts';

export interface SandboxPlan {
  readonly incarnation: string;
  /** How long it lives without a server. */
  readonly leaseSeconds: number;
  readonly noOutputTimeoutSeconds: number;
}

/** The folder that a conversation's next sandbox works in. */
export interface WorkspacePlace {
  /** Its realpath. */
  readonly hostPath: string;
  /** Nothing in the sandbox may change it; default: it may. */
  readonly isReadOnly?: boolean;
}

/** What all sandboxes of a server share. */
export interface SandboxContext extends SandboxTools, SandboxLease {
  readonly workspaceOf: (conversationId: string) => Promise<WorkspacePlace | undefined>;
  /** What the next sandbox of a conversation is given; `undefined` = none may be started now. */
  readonly planOf: (conversationId: string) => SandboxPlan | undefined;
  readonly plugins: readonly PluginName[];
  /** Whether workspaces are stored before each step that may change them. */
  readonly checkpoints: boolean;
  readonly output: OutputLimits;
  readonly egress: Egress;
  readonly secretsFor: SecretsFor;
  /** What Pythons without `ipykernel` are given; missing where nothing is. */
  readonly kernelPackages: PackageSource | undefined;
}

/** By what sandboxes are started, found again and ended, whatever they are for. */
export interface SandboxTools {
  readonly records: SandboxRecords;
  readonly driver: SandboxDriver;
  /** The driver's own, and those of others. */
  readonly reapers: Reapers;
  readonly places: SandboxPlaces;
  readonly owners: SandboxOwners;
  readonly clock: Clock;
  readonly weights: ProcessorWeights;
  readonly notice: (notice: string) => void;
}

/** How long what is held stays. */
export interface SandboxLease {
  /** While this process holds a sandbox its lease is renewed for so long, unless that is for somebody else to do. */
  readonly leaseSeconds: number;
  readonly renewsLease: (conversationId: string) => boolean;
  /** How long to wait for running actions in a sandbox of another version. */
  readonly outdatedMs: number;
}
