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

/** The server that the pool belongs to, its driver and its storage. */
interface PoolPlace {
  readonly records: RecordStore;
  readonly driver: SandboxDriver;
  /** End sandboxes that an earlier start of the server left under another driver. */
  readonly otherReapers?: readonly Reaper[];
  /** Absolute; made with mode 0700. Sandboxes keep homes, journals and logs here. */
  readonly stateRoot: string;
  /** The conversation's workspace; `undefined` when there is no such conversation (any more). */
  readonly workspaceOf: (conversationId: string) => Promise<WorkspacePlace | undefined>;
  readonly clock: Clock;
  /** With several servers on one storage: which sandboxes this one may touch. Default: all of them. */
  readonly owners?: SandboxOwners;
  /** Called with lines for the server's log. */
  readonly onNotice?: (notice: string) => void;
}

/** How many sandboxes there are at a time, and for how long; everything has a default. */
interface PoolLimits {
  /** When idle sandboxes are suspended or hibernated, and how many run at a time; missing fields come from `DEFAULT_IDLE_PLAN`. */
  readonly idlePlan?: Partial<IdlePlan>;
  /** Called when an idle sandbox was suspended or hibernated; its next action brings it back. */
  readonly onSuspended?: (conversationId: string) => void;
  /** Seconds that a sandbox lives on without a server. */
  readonly leaseSeconds?: number;
  /** Whether to renew the lease of a conversation's sandbox while it is held. Default: always. */
  readonly renewsLease?: (conversationId: string) => boolean;
  /** How long to wait for running actions in a sandbox of another version of Tendon before it is replaced; default ten minutes. */
  readonly outdatedMs?: number;
}

/** What new sandboxes get. */
interface SandboxDefaults {
  /** Seconds without output after which a command is handed back as still running. */
  readonly noOutputTimeoutSeconds?: number;
  /** The plugins that sandboxes have in addition to shell and files. Default: all. */
  readonly plugins?: readonly PluginName[];
  /** Whether to make a checkpoint of the workspace before each step that may change it. Default: yes. */
  readonly checkpoints?: boolean;
  /** How much of their output is stored and shown. */
  readonly output?: OutputLimits;
  /** The network policy of one-off sandboxes, read when one starts. Default: the public internet. */
  readonly oneOffNetwork?: () => Promise<NetworkPolicy>;
  /** Registries for kernel packages in addition to the public ones. */
  readonly registries?: Pick<NetworkPolicy, 'allow' | 'allowPrivate'>;
  /** Plans the next sandbox of a conversation; `undefined`: use only a living one. Default: a fresh name, and the values above. */
  readonly planOf?: (conversationId: string) => SandboxPlan | undefined;
  /** Secrets that an action names, which only its own command gets as variables. Default: none. */
  readonly secretsFor?: SecretsFor;
}

export interface SandboxPoolOptions extends PoolPlace, PoolLimits, SandboxDefaults, Omit<EgressOptions, 'notice'> {}

/** Connections into and out of sandboxes. None of these methods starts or ends one. */
export interface SandboxReaches {
  /** The ports on which programs in the live sandbox listen, and how to connect to them. */
  ports(conversationId: string): SandboxPorts | undefined;
  /** The address of the live sandbox's executor. */
  addressOf(conversationId: string): ExecutorAddress | undefined;
  /** Hosts that the sandbox was not allowed to connect to, newest last; a bounded number. */
  refusedHosts(conversationId: string): Promise<readonly RefusedHost[]>;
  /** Hosts that the sandbox has connected to, newest last; a bounded number. Empty for a sandbox on another machine. */
  reachedHosts(conversationId: string): Promise<readonly ReachedHost[]>;
  /** Dials on behalf of the conversation, under the network policy of its sandbox. */
  dialAs(conversationId: string): Dial;
  /** Called when the policy of one conversation, or of all, has changed. Resolves when each egress proxy concerned has it or could not be reached. */
  networkChanged(conversationId?: string): Promise<void>;
}

/** Ends or suspends the sandbox of one conversation. */
interface SandboxEnds {
  /** Freezes the sandbox in place now, whatever the idle plan says. Resolves with the reason if it refuses. */
  suspend(conversationId: string): Promise<string | undefined>;
  /** Stores the state of the sandbox and ends it now, whatever the idle plan says. Resolves with the reason if it refuses. */
  hibernate(conversationId: string, request: HibernateRequest): Promise<string | undefined>;
  /** Detaches from the sandbox without ending it: it lives on for its lease, for the server that has the conversation now. */
  release(conversationId: string): Promise<void>;
  /** Ends the sandbox; the private home stays for the next. */
  end(conversationId: string, reason: string): Promise<void>;
}

/** All sandboxes of a server, whether or not this process holds them. */
interface SandboxCensus {
  /** Counts the sandboxes that this process holds. */
  counts(): SandboxCounts;
  /** All known sandboxes, with their resource usage. */
  list(): Promise<readonly SandboxInfo[]>;
  /**
   * Called once when the server starts: attaches to its living sandboxes, leaves hibernated ones alone, and removes those that belong to no
   * conversation or whose start was interrupted. Sandboxes may be acquired meanwhile.
   */
  reconcile(): Promise<{ readonly kept: number; readonly reaped: number }>;
  /** Removes sandboxes, with their homes, that belong to no conversation; with `all`, every sandbox that this process does not hold. */
  reclaim(options: { readonly all: boolean }): Promise<{ readonly kept: number; readonly reaped: number }>;
}

/** Sandboxes that belong to no conversation. */
interface OneOffRunner {
  /**
   * Runs programs in a new sandbox with an empty workspace and without secrets and tokens. One runs at a time; the others wait. Resolves, or
   * rejects with a user-facing error, once the sandbox is removed completely.
   */
  runOneOff<T>(work: (programs: OneOffPrograms) => Promise<T>, options: OneOffOptions): Promise<T>;
}

export interface SandboxPool extends Runtimes, SandboxReaches, SandboxEnds, SandboxCensus, OneOffRunner {
  /**
   * Copies the conversation's workspace, with its git histories as they are now; `left` names some of the files that were left out. Starts
   * the sandbox if there is none. Rejects with a user-facing error.
   */
  copyWorkspace(conversationId: string, request: CopyRequest): Promise<{ readonly left: readonly string[] }>;
  /** Ends the sandbox, with its state stored if the driver can, so that the next one mounts the workspace as `workspaceOf` then says. */
  remount(conversationId: string): Promise<void>;
  /** Whether the driver can mount a workspace read-only. */
  readonly mountsReadOnly: boolean;
  /** Detaches from all sandboxes, which live on for their lease so that the next server finds them; with `stopSandboxes`, ends them. */
  close(options?: { readonly stopSandboxes?: boolean }): Promise<void>;
}
