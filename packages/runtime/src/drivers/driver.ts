import type { ChildProcess } from 'node:child_process';
import type { Strength } from '@tendon/core';
import type { BrowserRequest, OutputLimits, PluginName } from '@tendon/protocol/executor-api';
import type { HostCapacity } from '../executor-host-api.ts';
import type { ExecutorAddress } from '../transport/executor-connection.ts';
import type { NetworkMode, NetworkReach } from '../egress/network-policy.ts';
import type { RefusedHost } from '../egress/refused-hosts.ts';
import type { Limits } from '../processes/control-group.ts';
import type { HeldFolder } from '../workspace/held-folder.ts';
import type { Protection } from '../workspace/protected/protect.ts';
import type { ProcessIdentity } from '../processes/process-identity.ts';

/** What stays known of a sandbox after its start. All paths are on the host and absolute. */
export interface SandboxPlace {
  readonly incarnation: string;
  /** Realpath of the folder that is the workspace. */
  readonly workspace: string;
  /** The workspace itself, whatever its path leads to by now; none where it is on another host. */
  readonly held: HeldFolder | undefined;
  /** Nothing inside can change the workspace. */
  readonly isReadOnly: boolean;
  readonly folders: SandboxFolders;
}

/** Only for a driver whose sandboxes are remote. */
interface RemoteSpec extends Asked {
  /** The policy that the egress proxy there enforces. */
  readonly network: NetworkReach;
}

/** The options with which one sandbox is started. */
export interface SandboxSpec extends SandboxPlace, RemoteSpec {
  readonly conversationId: string;
  readonly leaseSeconds: number;
  readonly noOutputTimeoutSeconds: number;
  /** Its plugins besides shell and files. */
  readonly plugins: readonly PluginName[];
  /** Whether its workspace is stored before each step that may change it. */
  readonly checkpoints: boolean;
  readonly output: OutputLimits;
  /** Git hosts that the proxy answers for; used only where our egress proxy serves the sandbox. */
  readonly gitHosts: readonly string[];
}

/** Where one sandbox keeps its things; made by the driver, removed by `removeFolders`. */
export interface SandboxFolders {
  /** Outlives incarnations: the private home. */
  readonly home: string;
  /** Outlives incarnations too: the journal, spools, and the session of a hibernated sandbox. */
  readonly state: string;
  /** Host only, never bound: start log and generated files. */
  readonly host: string;
  /** Short: the executor makes its socket here. Written by the inside, so nothing in it is trusted. */
  readonly link: string;
  /** Short: our proxy listens here. Read-only inside. */
  readonly proxy: string;
  /** Short: mount points for a start as root. */
  readonly stage: string;
  /** The workspace of a sandbox that works for nobody's conversation. */
  readonly scratch: string;
  /** Of all sandboxes: what their Pythons need to become kernels, in a folder for each system that they see. Read-only inside. */
  readonly kernels: string;
}

/** Enough to find, reach and end a sandbox from another server process. Durable, so it holds no key. */
export type SandboxHandle = ReachedBy & {
  /** When it ends, everything inside ends; missing if no process of this host represents the sandbox. */
  readonly anchor?: ProcessIdentity;
  /** Its id in the container engine, and the engine's socket. */
  readonly container?: string;
  readonly engine?: string;
  /** Control groups of this sandbox, the outermost of each hierarchy. */
  readonly groups: readonly string[];
  /** The path of the workspace inside; default `/workspace`. */
  readonly workspace?: string;
  /** On this host: what a container has written to its root. */
  readonly rootLayer?: string;
  /** The host's kernel packages that it sees, if any. */
  readonly kernelPackages?: string;
  /** The protected paths of its workspace, if that is a person's own. */
  readonly protection?: Protection;
  /** In a cluster: the sandbox of agent-sandbox, whose pod has its name, and that pod. */
  readonly pod?: { readonly name: string; readonly uid: string; readonly incarnation: string };
  /** It is remote, and its host had nothing of the conversation before. */
  readonly isNew?: boolean;
};

/** Where the executor answers: a unix socket on this host, or a URL that its routes are below (`http` or `https`, no final slash). */
export type ReachedBy = { readonly socketPath: string; readonly url?: never } | { readonly url: string; readonly socketPath?: never };

export type Probe =
  | {
      readonly available: true;
      readonly strength: Strength;
      readonly description: string;
      readonly limits: readonly string[];
      /** Of remote sandboxes: what their host gives at most, and whether it can enforce anything less. */
      readonly network?: { readonly mode: NetworkMode; readonly isPoliced: boolean };
    }
  /** `fix` says what to install or change. `isAway`: a host does not answer, and may do so later without a change here. */
  | { readonly available: false; readonly reason: string; readonly fix: string; readonly isAway?: true };

export type DriverName = 'local' | 'docker' | 'remote' | 'kubernetes' | 'none';

/** Only starts the executor, checks whether it lives and ends it; everything that the agent does happens in the executor. */
export interface SandboxDriver extends Starter, Reaper {}

export type IdleMode = 'hibernate' | 'suspend';

/** What a driver can do for its sandboxes. */
interface StarterTraits {
  /** What its sandboxes are limited to; missing where that is not known here. */
  readonly limits?: Limits;
  /** How long `start` may take; default 20 seconds. */
  readonly startMs?: number;
  /**
   * What becomes of an idle sandbox. `hibernate`: it ends with its state stored and is restored from that, without losing files that the
   * executor does not know of. `suspend`: what the agent started is frozen in place and keeps its memory. Missing: it keeps running.
   */
  readonly whenIdle?: IdleMode | undefined;
  /** Whether it can mount a workspace so that nothing inside can change it. */
  readonly mountsReadOnly?: boolean | undefined;
}

export interface StartOptions {
  readonly signal: AbortSignal;
  /** Called with the current step, one clause at a time, if a start takes long. */
  readonly onProgress?: (text: string) => void;
}

/** How a driver brings a sandbox up. */
export interface Starter extends StarterTraits {
  /** Tried once per driver and boot, then remembered, where the answer cannot change. Of remote sandboxes: those on one host, or on any. */
  probe(host?: string): Promise<Probe>;
  /** Before each start, without a short deadline: brings what may be large (an image). `onProgress` gets one clause at a time. */
  prepare?(options: { readonly signal: AbortSignal; readonly onProgress: (text: string) => void }): Promise<void>;
  /** Resolves when the process exists, not when it answers. Rejects with an Error whose message can be shown. */
  start(spec: SandboxSpec, options: StartOptions): Promise<SandboxHandle>;
  /**
   * The program of the browser (`browser-host.ts` of the executor API) beside a sandbox whose image may have none. It ends with its input and with
   * this process; `endIncarnations` ends it too. Rejects with an Error that says why there can be none.
   */
  startBrowser?(handle: SandboxHandle, place: SandboxPlace, request: BrowserRequest): Promise<ChildProcess>;
  /** What the start and the executor have printed last, where that is not in `startLogOf`. */
  lastLines?(handle: SandboxHandle): Promise<string>;
}

/** What a driver can do for sandboxes that it need not have started in this process. */
export interface Reaper {
  readonly name: DriverName;
  /** Its sandboxes are on another host. */
  readonly remote?: RemoteSandboxes;
  /** Synchronous and cheap: from the process table, or if there is none, from the last report. */
  isAlive(handle: SandboxHandle): boolean;
  /** Kills everything inside; resolves when no process and no group of it is left. Idempotent. */
  end(handle: SandboxHandle, asked?: Asked): Promise<void>;
  /**
   * The same for starts that were cut off before their handles were recorded: found by their incarnations' names, all of them with
   * one look at the machine.
   */
  endIncarnations(incarnations: readonly string[], askedOf?: (incarnation: string) => Asked): Promise<void>;
  /** Incarnations that are found without their folders: of this state root, or of one of this user that is no more. */
  strays?(stateRoot: string): Promise<readonly string[]>;
  /** Called from time to time while a server holds the sandbox: it must not end by itself for at least this time. */
  extendLease?(handle: SandboxHandle, seconds: number): Promise<void>;
  /** Removes what outlives a conversation's sandboxes, where that is not in the folders of this host; `workspace` = its own one too. */
  forget?(conversationId: string, options: Asked & { readonly workspace: boolean }): Promise<void>;
}

/** Only for a driver whose sandboxes are remote. */
export interface Asked {
  /** Where its record says that it is. */
  readonly host?: string | undefined;
  /** The epoch of the owner that sends the request; 0 if there can be no other owner. */
  readonly ownerEpoch?: number;
}

/** What a new sandbox needs from its host. */
export interface PlaceRequest {
  readonly conversationId: string;
  readonly network: NetworkReach;
  readonly isReadOnly: boolean;
  readonly signal: AbortSignal;
}

/** A host of remote sandboxes. */
export interface SandboxHostInfo {
  /** The address by which records name it. */
  readonly address: string;
  /** Why it takes no new conversation now. */
  readonly refuses: string | undefined;
  /** False: it does not answer. */
  readonly isThere: boolean;
  readonly version: string | undefined;
  /** In a clause. */
  readonly description: string | undefined;
  readonly capacity: HostCapacity | undefined;
}

/** Where workspace and folders are on another host, this host looks for nothing of them. */
export interface RemoteSandboxes {
  /** Chooses the host of a conversation's first sandbox; the record names it. Rejects with a user-facing error that says why there is none. */
  place?(request: PlaceRequest): Promise<string>;
  /** Of records that name none. */
  readonly firstHost?: string;
  /** Whether that host is one of those that this server is configured with. Missing: all are. */
  knows?(host: string): boolean;
  /** Each of its hosts, as it is now. */
  hosts?(): Promise<readonly SandboxHostInfo[]>;
  /** Makes a host take no conversation that it does not have, or take them again; it stays so when it is started again. */
  drain?(host: string, isDraining: boolean): Promise<void>;
  /** What every request to an executor must carry (its key); asked for each time, recorded nowhere. */
  headers(handle: SandboxHandle): Readonly<Record<string, string>>;
  /** The egress proxy runs there too; missing where it runs here, over connections that this server makes to the executor. */
  readonly proxy?: RemoteProxy;
}

/** The egress proxy of sandboxes on another host, beside them. */
export interface RemoteProxy {
  /** Sets what the egress proxy lets through from the next connection on. The newest policy stays, whatever is on its way. */
  setNetwork(handle: SandboxHandle, network: () => Promise<NetworkReach>): Promise<void>;
  /** The hosts that the egress proxy refused. */
  refusedHosts(handle: SandboxHandle): Promise<readonly RefusedHost[]>;
}

/** How to speak with the executor of a handle. */
export function addressOf(driver: SandboxDriver, handle: SandboxHandle): ExecutorAddress {
  if (handle.url === undefined) return { socketPath: handle.socketPath };
  return { url: handle.url, headers: () => driver.remote?.headers(handle) ?? {} };
}

export function socketPathOf(folders: SandboxFolders): string {
  return `${folders.link}/executor.sock`;
}

export function proxySocketPathOf(folders: SandboxFolders): string {
  return `${folders.proxy}/proxy.sock`;
}

export function browserSocketPathOf(folders: SandboxFolders): string {
  return `${folders.proxy}/browser.sock`;
}

/** What the start and the executor print. */
export function startLogOf(folders: SandboxFolders): string {
  return `${folders.host}/start.log`;
}
