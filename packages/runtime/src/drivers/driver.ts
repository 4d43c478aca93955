import type { Strength } from '@tendon/core';
import type { ProcessIdentity } from './process-identity.ts';

/** What one sandbox is started with. All paths are on the host and absolute. */
export interface SandboxSpec {
  readonly conversationId: string;
  readonly incarnation: string;
  /** Realpath of the folder that is the workspace. */
  readonly workspace: string;
  readonly folders: SandboxFolders;
  readonly leaseSeconds: number;
  readonly noOutputTimeoutSeconds: number;
}

/** Where one sandbox keeps its things; made by the driver, removed by `removeFolders`. */
export interface SandboxFolders {
  /** Outlives incarnations: the private home. */
  readonly home: string;
  /** Journal and spools of this incarnation. */
  readonly state: string;
  /** Host only, never bound: start log and generated files. */
  readonly host: string;
  /** Short: the executor makes its socket here. Written by the inside, so nothing in it is trusted. */
  readonly link: string;
  /** Short: our proxy listens here. Read-only inside. */
  readonly proxy: string;
  /** Short: mount points for a start as root. */
  readonly stage: string;
}

/** Enough to find, reach and end a sandbox from another server process. Durable. */
export interface SandboxHandle {
  /** Its death is the death of everything inside. */
  readonly anchor: ProcessIdentity;
  readonly socketPath: string;
  /** Control groups of this sandbox, the outermost of each hierarchy. */
  readonly groups: readonly string[];
}

export type Probe =
  | { readonly available: true; readonly strength: Strength; readonly description: string; readonly limits: readonly string[] }
  /** `fix` says what to install or change. */
  | { readonly available: false; readonly reason: string; readonly fix: string };

export type DriverName = 'local' | 'none';

/** Knows only how to start the executor, to tell whether it lives and to end it; everything the agent does happens in the executor. */
export interface Driver {
  readonly name: DriverName;
  /** Tried once per driver and boot, then remembered. */
  probe(): Promise<Probe>;
  /** Resolves when the process exists, not when it answers. Rejects with an Error whose message can be shown. */
  start(spec: SandboxSpec, options: { readonly signal: AbortSignal }): Promise<SandboxHandle>;
  isAlive(handle: SandboxHandle): boolean;
  /** Kills everything inside; resolves when no process and no group of it is left. Idempotent. */
  end(handle: SandboxHandle): Promise<void>;
  /** The same for a start that was cut off before its handle was recorded: found by the incarnation's name. */
  endByIncarnation(incarnation: string): Promise<void>;
}

export function socketPathOf(folders: SandboxFolders): string {
  return `${folders.link}/executor.sock`;
}

export function proxySocketPathOf(folders: SandboxFolders): string {
  return `${folders.proxy}/proxy.sock`;
}

/** What the start and the executor print. */
export function startLogOf(folders: SandboxFolders): string {
  return `${folders.host}/start.log`;
}
