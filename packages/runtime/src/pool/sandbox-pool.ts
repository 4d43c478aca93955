import type { Clock, RecordStore, Runtimes } from '@tendon/core';
import type { SandboxInfo } from '@tendon/protocol';
import type { OutputLimits, PluginName } from '@tendon/protocol/executor-api';
import type { SandboxDriver, Reaper } from '../drivers/driver.ts';
import type { ExecutorAddress } from '../transport/executor-connection.ts';
import type { Dial } from '../egress/dial.ts';
import type { NetworkPolicy } from '../egress/network-policy.ts';
import type { ReachedHost } from '../egress/reached-hosts.ts';
import type { RefusedHost } from '../egress/refused-hosts.ts';
import type { EgressOptions } from '../egress/egress.ts';
import type { SecretsFor } from '../sandbox/action-stream.ts';
import type { SandboxOwners } from '../sandbox/sandbox-owners.ts';
import type { SandboxPlan, WorkspacePlace } from '../sandbox/sandbox-context.ts';
import type { SandboxPorts } from '../sandbox/sandbox-ports.ts';
import type { OneOffOptions, OneOffPrograms } from './one-off-sandboxes.ts';
import type { CopyRequest } from './copy-workspace.ts';
import type { SandboxCounts } from './sandbox-entry.ts';
import type { HibernateRequest, IdlePlan } from './idle-sandboxes.ts';

/** Whose sandboxes they are, and where what is known of them is stored. */
interface PoolPlace {
  readonly records: RecordStore;
  readonly driver: SandboxDriver;
  /** For sandboxes that another driver has started, before it was this one. */
  readonly otherReapers?: readonly Reaper[];
  /** Absolute; made with mode 0700. Sandboxes keep homes, journals and logs here. */
  readonly stateRoot: string;
  /** The conversation's workspace; `undefined` when there is no such conversation (any more). */
  readonly workspaceOf: (conversationId: string) => Promise<WorkspacePlace | undefined>;
  readonly clock: Clock;
  /** Where several servers share the records: whose sandboxes this one may touch. Default: it has every conversation, and no other server does. */
  readonly owners?: SandboxOwners;
  /** One line for the server's log. */
  readonly onNotice?: (notice: string) => void;
}

/** How many there are at a time, and for how long; what is not given is as usual. */
interface PoolLimits {
  /** When idle sandboxes are suspended or hibernated, and how many run at a time; the rest as in `DEFAULT_IDLE_PLAN`. */
  readonly idlePlan?: Partial<IdlePlan>;
  /** An idle sandbox was suspended or hibernated; its next action brings it back. */
  readonly onSuspended?: (conversationId: string) => void;
  /** Seconds that a sandbox lives on without a server. */
  readonly leaseSeconds?: number;
  /** Of which conversations the leases are renewed here while a sandbox is held. Default: of all. */
  readonly renewsLease?: (conversationId: string) => boolean;
  /** How long to wait for running actions in a sandbox of another version of Tendon before it is replaced; default ten minutes. */
  readonly outdatedMs?: number;
  /** Starts at the same time; the others wait. */
  readonly maxParallelStarts?: number;
}

/** What a sandbox is given. */
interface SandboxDefaults {
  /** Seconds without output after which a command is handed back as still running. */
  readonly noOutputTimeoutSeconds?: number;
  /** What sandboxes have beside shell and files. Default: every plugin. */
  readonly plugins?: readonly PluginName[];
  /** How much of their output is stored and shown. */
  /** Whether workspaces are stored before each step that may change them; default: they are. */
  readonly checkpoints?: boolean;
  readonly output?: OutputLimits;
  /** Where sandboxes that are no conversation's may connect to, as of now. Default: the public internet. */
  readonly oneOffNetwork?: () => Promise<NetworkPolicy>;
  /** Beside the public registries, where packages for kernels may come from. */
  readonly registries?: Pick<NetworkPolicy, 'allow' | 'allowPrivate'>;
  /** Names and equips the next sandbox of a conversation; `undefined` = only one that lives may be used. Default: a fresh name, and the values above. */
  readonly planOf?: (conversationId: string) => SandboxPlan | undefined;
  /** Variables that an action names and that are put into its command alone. Default: none. */
  readonly secretsFor?: SecretsFor;
}

export interface SandboxPoolOptions extends PoolPlace, PoolLimits, SandboxDefaults, Omit<EgressOptions, 'notice'> {}

/** What is reached of a sandbox from outside, and what it reaches; nothing of it starts or ends one. */
export interface SandboxReaches {
  /** What the live sandbox's programs serve, and the way to it, without starting any. */
  ports(conversationId: string): SandboxPorts | undefined;
  /** Where the executor of the live sandbox answers. */
  addressOf(conversationId: string): ExecutorAddress | undefined;
  /** Where the conversation's sandbox wanted to connect to and might not, the newest last; a bounded number. */
  refusedHosts(conversationId: string): Promise<readonly RefusedHost[]>;
  /** Where it has connected to, the newest last; a bounded number, and nothing of a sandbox on another machine. */
  reachedHosts(conversationId: string): Promise<readonly ReachedHost[]>;
  /** Connections as the conversation's sandbox may make them: what asks in its name goes no further. */
  dialAs(conversationId: string): Dial;
  /** Its policy is another now, or everybody's: resolves when the egress proxy of the sandbox, wherever it runs, has it or could not be reached. */
  networkChanged(conversationId?: string): Promise<void>;
}

/** Ends or suspends the sandbox of one conversation. */
interface SandboxEnds {
  /** Freezes it in place now, whatever the plan says; resolves with the reason when it refuses. */
  suspend(conversationId: string): Promise<string | undefined>;
  /** Ends it now with its state stored, whatever the plan says; resolves with the reason when it refuses. */
  hibernate(conversationId: string, request: HibernateRequest): Promise<string | undefined>;
  /** Lets go of it without ending it: it lives on for its lease, for the server that has the conversation now. */
  release(conversationId: string): Promise<void>;
  /** Ends the sandbox; the private home stays for the next. */
  end(conversationId: string, reason: string): Promise<void>;
}

/** Knows all sandboxes of a server, of this process or not. */
interface SandboxCensus {
  /** Of those that this process holds. */
  counts(): SandboxCounts;
  /** All that are known, with what they use. */
  list(): Promise<readonly SandboxInfo[]>;
  /**
   * Once at server start: attaches to this server's living sandboxes, keeps the hibernated ones, ends and removes those that belong to no
   * conversation or whose start was interrupted. Sandboxes may be acquired meanwhile.
   */
  reconcile(): Promise<{ readonly kept: number; readonly reaped: number }>;
  /** Ends and removes what belongs to no conversation; with `all` also what does, unless this process holds it. Homes go too. */
  reclaim(options: { readonly all: boolean }): Promise<{ readonly kept: number; readonly reaped: number }>;
}

/** Sandboxes that are no conversation's. */
interface OneOffs {
  /**
   * Starts programs in a new sandbox that has an empty workspace and is given nobody's secrets and tokens. One at a time, the others wait.
   * Resolves, or rejects with what can be shown, when nothing of the sandbox is left.
   */
  runOneOff<T>(work: (programs: OneOffPrograms) => Promise<T>, options: OneOffOptions): Promise<T>;
}

export interface SandboxPool extends Runtimes, SandboxReaches, SandboxEnds, SandboxCensus, OneOffs {
  /**
   * A copy of the conversation's workspace, with its git histories as they are now; `left` names some of what is not in it. Starts the
   * sandbox where there is none. Rejects with a user-facing error.
   */
  copyWorkspace(conversationId: string, request: CopyRequest): Promise<{ readonly left: readonly string[] }>;
  /** Its workspace is to be mounted another way: ends it with its state stored where the driver can; the next is as `workspaceOf` says then. */
  remount(conversationId: string): Promise<void>;
  /** Whether a workspace can be mounted so that nothing in a sandbox can change it. */
  readonly mountsReadOnly: boolean;
  /** Lets go of every sandbox; they live on for their lease, to be found again. With `stopSandboxes` they end. */
  close(options?: { readonly stopSandboxes?: boolean }): Promise<void>;
}
