/**
 * What a server and the program that keeps sandboxes for it on another host (`tendon executor`) say to each other, beside what an
 * executor itself answers below `/sandboxes/<incarnation>`. Every request carries the key as `X-Session-API-Key`.
 *
 *   GET    /server_info                     → HostInfo
 *   PUT    /drain                           {draining} → 204; whether it takes conversations that it does not have; durable
 *   PUT    /sandboxes/<incarnation>         StartRequest → HostedSandbox; started, or found when it lives
 *   GET    /sandboxes/<incarnation>         → HostedSandbox
 *   DELETE /sandboxes/<incarnation>         → 204 when nothing of it is left; the private home stays
 *   GET    /sandboxes/<incarnation>/watch?questions=1 → application/x-ndjson of WatchLine, open as long as it lives; `questions` where the server takes them
 *   GET    /sandboxes/<incarnation>/calls/<id> with `Upgrade: tcp` → 101: from within the sandbox, to the broker of git (`egress/git-broker.ts`)
 *   POST   /sandboxes/<incarnation>/questions/<id> {refusal} → 204, 404 where nobody waits any more; without a refusal the policy decides
 *   GET    /sandboxes/<incarnation>/network → HostedNetwork
 *   PUT    /sandboxes/<incarnation>/network NetworkReach → 204; from the next connection on
 *   POST   /sandboxes/<incarnation>/sleep   {with_kernel, in_place} → SuspendAnswer; `in_place` suspends, else it hibernates, and the next one of its
 *                                           conversation is restored from what it stored
 *   DELETE /conversations/<id>?workspace=   → 204; its sandbox and private home, with `workspace=true` also its own workspace
 * Of a sandbox that is no more everything answers 410 with the reason.
 * `X-Owner-Epoch` is compared as an executor does (`executor-api.ts`), for each conversation.
 */
import type { Strength } from '@tendon/core';
import type { NetworkMode, NetworkReach } from './egress/network-policy.ts';
import type { RefusedHost } from './egress/refused-hosts.ts';

/** Changes when either end would misunderstand the other. */
export const EXECUTOR_API = 3;

export interface HostInfo {
  readonly executor_api: number;
  readonly version: string;
  /** Missing where a host of an earlier version does not report it. */
  readonly capacity?: HostCapacity | undefined;
  readonly sandbox: {
    readonly driver: string;
    readonly strength: Strength;
    readonly description: string;
    /** What is not limited or isolated, in words. */
    readonly limits: readonly string[];
    /** What its operator gives at most, and whether it can enforce anything less. */
    readonly network: HostNetwork;
    /** What becomes of idle sandboxes (`IDLE_MODES`); null where they keep running. */
    readonly sleeps: 'ended' | 'in-place' | null;
    /** Whether sandboxes can be started with `read_only`; hosts of earlier versions do not name it. */
    readonly mounts_read_only: boolean;
  };
}

/** What a host has left for more sandboxes. */
export interface HostCapacity {
  /** It takes no conversation that it does not have. */
  readonly draining: boolean;
  /** That run. */
  readonly sandboxes: number;
  readonly max_sandboxes: number;
  readonly memory_bytes: number;
  readonly free_memory_bytes: number;
  /** Of the last minute, for each processor. */
  readonly load: number;
}

/** What `sleeps` says, which the API has from before these words, as a driver has it. */
export const IDLE_MODES = { ended: 'hibernate', 'in-place': 'suspend', never: undefined } as const;

export interface StartRequest {
  readonly conversation_id: string;
  /** A folder of the workspace, relative; the sandbox sees it as its whole workspace. */
  readonly directory?: string;
  readonly lease_seconds: number;
  readonly no_output_timeout_seconds: number;
  /** No more than the host gives. Unset: all that it gives. */
  readonly network?: NetworkReach;
  /** Those for which the server has a broker; git inside asks for them by way of a call. */
  readonly git_hosts?: readonly string[];
  /** Nothing inside can change the workspace. Asked only of hosts that have `mounts_read_only`. */
  readonly read_only?: boolean;
}

export interface HostNetwork {
  readonly mode: NetworkMode;
  readonly is_policed: boolean;
}

export interface HostedNetwork {
  readonly mode: NetworkMode;
  readonly allow: readonly string[];
  readonly refused: readonly RefusedHost[];
}

export type WatchLine =
  /** The first: from now on nothing is missed. */
  | { readonly watching: true }
  /** Something inside asks for the broker: the watching server fetches it, under this name, within seconds. */
  | { readonly call: string }
  /** A connection waits for a person's answer; a question may come more than once. */
  | { readonly question: HostQuestion }
  /** The last. */
  | { readonly ended: string };

/** Whether the sandbox may reach a name that only the conversation's list lacks. */
export interface HostQuestion {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

export interface HostedSandbox {
  readonly incarnation: string;
  readonly conversation_id: string;
  /** Where the workspace is for what runs inside. */
  readonly workspace: string;
  /** Nothing of its conversation was here before: no home, no files of its own, nothing stored to restore it from. */
  readonly is_new: boolean;
}
