import { existsSync } from 'node:fs';
import { KeyedMutex, type RecordStore, type Runtime } from '@tendon/core';
import {
  type AskPerson,
  isWider,
  newIncarnation,
  removeFolder,
  type SandboxDriver,
  type ExecutorAddress,
  type RemoteGit,
  type HostCapacity,
  type HostedNetwork,
  type HostedSandbox,
  type IdleMode,
  type NetworkPolicy,
  type NetworkReach,
  type SandboxPlan,
  type SandboxPorts,
  type SandboxRecord,
  type SandboxPool,
  type SuspendAnswer,
  type HibernateRequest,
} from '@tendon/runtime';
import { earlierOwner } from './owner-epoch.ts';
import { SandboxCalls } from './sandbox-calls.ts';
import { SandboxQuestions } from './sandbox-questions.ts';
import { type FolderRules, outsideRoots, ownFolder, workspaceFolder, workspaceRoots, type WorkspaceRoots } from '@tendon/server/sandboxes';

/** Durable: which conversation of which server has which folder here, and what was started for it last. */
type Hosted = {
  readonly conversation_id: string;
  readonly incarnation: string;
  readonly workspace: string;
  /** As its server asked, within what this host gives. Missing: all that it gives. */
  readonly network?: NetworkReach;
  /** For which its server has a broker. */
  readonly git_hosts?: readonly string[];
  readonly read_only?: true;
  /** The greatest that was seen of the conversation's owners. */
  readonly owner_epoch?: number;
};

export interface StartRequest {
  readonly incarnation: string;
  readonly conversationId: string;
  readonly directory: string | undefined;
  readonly leaseSeconds: number;
  readonly noOutputTimeoutSeconds: number;
  readonly network: NetworkReach | undefined;
  readonly gitHosts: readonly string[];
  readonly isReadOnly: boolean;
  /** As whose it comes; 0 where nobody else can have the conversation. */
  readonly ownerEpoch: number;
}

export interface LiveSandbox {
  readonly state: 'live';
  readonly runtime: Runtime;
  readonly address: ExecutorAddress;
  readonly ports: SandboxPorts;
}

/** Answered instead of a sandbox: it is no more, or was never here. */
export interface GoneSandbox {
  readonly state: 'gone';
  readonly reason: string;
}

/** Answered instead of a sandbox: a later owner has the conversation. */
export interface FencedStart {
  readonly state: 'fenced';
  readonly reason: string;
}

export interface HostedOptions {
  readonly records: RecordStore;
  readonly runtimes: (seams: HostedSeams) => SandboxPool;
  readonly folders: FolderRules;
  /** What the operator gives at most. */
  readonly network: NetworkPolicy;
  /** Whether the driver's sandboxes have no egress but our proxy. */
  readonly isPoliced: boolean;
  /** What becomes of the driver's idle sandboxes. */
  readonly whenIdle: SandboxDriver['whenIdle'];
  /** So many run at most. */
  readonly maxLive: number;
}

interface HostedWorkspace {
  readonly hostPath: string;
  readonly isReadOnly?: boolean;
}

/** What the holder of the sandboxes asks. */
export interface HostedSeams {
  readonly workspaceOf: (conversationId: string) => Promise<HostedWorkspace | undefined>;
  readonly planOf: (conversationId: string) => SandboxPlan | undefined;
  readonly renewsLease: (conversationId: string) => boolean;
  readonly networkOf: (conversationId: string) => Promise<NetworkPolicy>;
  readonly remoteGit: (conversationId: string) => RemoteGit | undefined;
  readonly askPerson: AskPerson;
}

const COLLECTION = 'hosted';
/** What the host itself is to remember. */
const OF_HOST = 'host';
const DRAINING = 'draining';
/** The sandbox of the routes at the root. No conversation of a server can have this name. */
const OWN = ':own';
const OWN_FOLDER = '_own';
const OWN_LEASE_SECONDS = 600;
const NO_OUTPUT_SECONDS = 10;
const ATTACH_MS = 20_000;

/**
 * Sandboxes that this host runs for remote servers, by the incarnation that the server has named, and one of its own.
 *
 * HOS1  An incarnation is started at most once: a repeated request attaches to it, or learns that it is gone. A second start would lose its
 *       journal.
 * HOS2  A conversation has one sandbox; a request for another ends the one before. Requests about one conversation run one after the other.
 * HOS3  A conversation's owner is the one with the greatest epoch: earlier owners are refused every change.
 * HOS4  Only its server renews the lease of a sandbox: without its server it ends by itself.
 */
export class HostedSandboxes {
  readonly #options: HostedOptions;
  readonly #runtimes: SandboxPool;
  readonly #roots: Promise<WorkspaceRoots>;
  readonly #hosted = new Map<string, Hosted>();
  readonly #plans = new Map<string, SandboxPlan>();
  readonly #mutex = new KeyedMutex();
  #isDraining = false;
  /** From the sandboxes to their servers. */
  readonly calls = new SandboxCalls();
  readonly questions = new SandboxQuestions();

  constructor(options: HostedOptions) {
    this.#options = options;
    this.#roots = workspaceRoots(options.folders);
    this.#runtimes = options.runtimes({
      workspaceOf: (id) => this.#workspaceOf(id),
      planOf: (id) => (id === OWN ? ownPlan() : this.#plans.get(id)),
      renewsLease: (id) => id === OWN,
      networkOf: async (id) => this.#networkOf(id),
      remoteGit: (id) => this.#remoteGit(id),
      askPerson: (id, place) => this.#ask(id, place),
    });
  }

  /** Once, before anything is asked: finds what an earlier process left. */
  async open(): Promise<void> {
    for (const { value } of await this.#options.records.list<Hosted>(COLLECTION)) this.#hosted.set(value.conversation_id, value);
    this.#isDraining = (await this.#options.records.get<boolean>(OF_HOST, DRAINING)) === true;
    await this.#runtimes.reconcile();
  }

  /** Durable: while it is drained it takes no conversation that it does not have. What it has goes on. */
  async drain(isDraining: boolean): Promise<void> {
    await this.#options.records.put(OF_HOST, { id: DRAINING, sort: '', value: isDraining });
    this.#isDraining = isDraining;
  }

  /** How many run, of how many. */
  capacity(): Pick<HostCapacity, 'draining' | 'sandboxes' | 'max_sandboxes'> {
    return { draining: this.#isDraining, sandboxes: this.#runtimes.counts().running, max_sandboxes: this.#options.maxLive };
  }

  /** Why a request as this owner is refused, if it is; a greater epoch than all before is stored first. What only looks is not refused. */
  async fenced(
    about: { readonly incarnation: string } | { readonly conversationId: string },
    epoch: number,
    isChange: boolean,
  ): Promise<string | undefined> {
    const id = 'incarnation' in about ? this.#conversationOf(about.incarnation) : about.conversationId;
    const hosted = id === undefined ? undefined : this.#hosted.get(id);
    if (hosted === undefined || epoch === 0) return undefined;
    const earlier = earlierOwner(hosted, epoch);
    if (earlier !== undefined) return isChange ? earlier : undefined;
    if (epoch > (hosted.owner_epoch ?? 0))
      await this.#mutex.run(hosted.conversation_id, async () => {
        const now = this.#hosted.get(hosted.conversation_id);
        if (now && (now.owner_epoch ?? 0) < epoch) await this.#put({ ...now, owner_epoch: epoch });
      });
    return undefined;
  }

  /** The sandbox of the root routes, started when it is first needed. Rejects with a user-facing error. */
  own(signal: AbortSignal): Promise<Runtime> {
    return this.#runtimes.acquire(OWN, { signal });
  }

  /** Why a sandbox may not have this network here, in words; `undefined` when it may. */
  networkRefusal({ mode }: NetworkReach): string | undefined {
    const { network, isPoliced } = this.#options;
    if (isWider(mode, network.mode))
      return `this host gives its sandboxes network "${network.mode}" at most, not "${mode}"; its operator can change that with SANDBOX_NETWORK`;
    if (mode !== 'full' && !isPoliced)
      return `this host cannot hold back connections of its sandboxes (driver and network are its operator's choice), so only network "full" is possible`;
    return undefined;
  }

  /** From the next connection on. False when that sandbox is not the conversation's any more. */
  setNetwork(incarnation: string, network: NetworkReach): Promise<boolean> {
    const id = this.#conversationOf(incarnation);
    if (id === undefined) return Promise.resolve(false);
    return this.#mutex.run(id, async () => {
      const hosted = this.#hosted.get(id);
      if (hosted?.incarnation !== incarnation) return false;
      await this.#put({ ...hosted, network });
      return true;
    });
  }

  /** `undefined` when there is no such sandbox. */
  async networkOf(incarnation: string): Promise<HostedNetwork | undefined> {
    const id = this.#conversationOf(incarnation);
    if (id === undefined) return undefined;
    const { mode, allow } = this.#hosted.get(id)?.network ?? this.#options.network;
    return { mode, allow, refused: await this.#runtimes.refusedHosts(id) };
  }

  /** Rejects with a user-facing error when it cannot be started. */
  start(request: StartRequest, signal: AbortSignal): Promise<HostedSandbox | GoneSandbox | FencedStart> {
    const { conversationId, incarnation } = request;
    return this.#mutex.run(conversationId, async () => {
      signal.throwIfAborted();
      const before = this.#hosted.get(conversationId);
      // A later owner's start may have been before this one in the queue.
      const earlier = before && earlierOwner(before, request.ownerEpoch);
      if (earlier !== undefined) return { state: 'fenced', reason: earlier };
      if (before?.incarnation !== incarnation) {
        if (this.#conversationOf(incarnation) !== undefined) return gone('the sandbox belongs to another conversation');
        if (this.#isDraining && !this.#knows(conversationId))
          throw new Error('this host of sandboxes is being drained: it takes no new conversation');
        if (before) await this.#runtimes.end(conversationId, 'another sandbox was asked for');
        await this.#begin(request, before?.owner_epoch);
      }
      try {
        const found = await this.#find(conversationId, incarnation, signal);
        if (found.state === 'gone') return found;
        return { incarnation, conversation_id: conversationId, workspace: found.runtime.workspace, is_new: before === undefined };
      } finally {
        this.#plans.delete(conversationId);
      }
    });
  }

  /** Also when its sandbox was stopped: the folder that was made for it stays. */
  #knows(conversationId: string): boolean {
    return this.#hosted.has(conversationId) || existsSync(ownFolder(this.#options.folders.home, conversationId));
  }

  /** The live sandbox of that name. */
  async reach(incarnation: string): Promise<LiveSandbox | GoneSandbox> {
    const id = this.#conversationOf(incarnation);
    if (id === undefined) return gone('there is no such sandbox here');
    const live = this.#live(id, this.#runtimes.current(id));
    if (live?.runtime.incarnation === incarnation) return live;
    return this.#mutex.run(id, () => this.#find(id, incarnation, AbortSignal.timeout(ATTACH_MS)));
  }

  list(): readonly Hosted[] {
    return [...this.#hosted.values()];
  }

  /** Freezes it in place, unless it is busy. */
  suspend(incarnation: string): Promise<SuspendAnswer | GoneSandbox> {
    return this.#pause(incarnation, 'suspend', (id) => this.#runtimes.suspend(id));
  }

  /** Ends it with its state stored, from which the next one of its conversation is restored, unless anything would be lost. */
  hibernate(incarnation: string, request: HibernateRequest): Promise<SuspendAnswer | GoneSandbox> {
    return this.#pause(incarnation, 'hibernate', (id) => this.#runtimes.hibernate(id, request));
  }

  /** Resolves when nothing of it is left; the home stays. What is not here has ended. */
  async end(incarnation: string): Promise<void> {
    const id = this.#conversationOf(incarnation);
    if (id === undefined) return;
    await this.#mutex.run(id, async () => {
      if (this.#hosted.get(id)?.incarnation === incarnation) await this.#runtimes.end(id, 'the sandbox was ended by its server');
    });
  }

  /** Ends the conversation's sandbox and removes its home; with `workspace` also the folder that was made for it. */
  forget(conversationId: string, { workspace }: { readonly workspace: boolean }): Promise<void> {
    return this.#mutex.run(conversationId, async () => {
      await this.#runtimes.stop(conversationId);
      await this.#options.records.delete(COLLECTION, conversationId);
      this.#hosted.delete(conversationId);
      if (workspace) await removeFolder(ownFolder(this.#options.folders.home, conversationId));
    });
  }

  /** Lets go; sandboxes live on for their leases. With `stopSandboxes` those that are held end. */
  close(options: { readonly stopSandboxes?: boolean }): Promise<void> {
    return this.#runtimes.close(options);
  }

  async #begin(request: StartRequest, epochBefore = 0): Promise<void> {
    const { conversationId, incarnation, directory, network, gitHosts, isReadOnly, leaseSeconds, noOutputTimeoutSeconds } = request;
    const ownerEpoch = Math.max(epochBefore, request.ownerEpoch);
    const folder = await workspaceFolder(await this.#roots, conversationId, directory);
    if (!folder.ok) throw new Error(folder.error.message);
    await this.#put({
      ...{ conversation_id: conversationId, incarnation, workspace: folder.path, git_hosts: gitHosts },
      ...(network && { network }),
      ...(isReadOnly && { read_only: true as const }),
      ...(ownerEpoch > 0 && { owner_epoch: ownerEpoch }),
    });
    this.#plans.set(conversationId, { incarnation, leaseSeconds, noOutputTimeoutSeconds });
  }

  async #put(hosted: Hosted): Promise<void> {
    await this.#options.records.put(COLLECTION, { id: hosted.conversation_id, sort: '', value: hosted });
    this.#hosted.set(hosted.conversation_id, hosted);
  }

  /** What the server asked for, and never more than the operator gives: both are asked for every connection. */
  #networkOf(conversationId: string): NetworkPolicy {
    const { allowPrivate, ...atMost } = this.#options.network;
    const wished = this.#hosted.get(conversationId)?.network ?? { mode: 'full', allow: [] };
    return { ...wished, allowPrivate, atMost };
  }

  /** Tokens are with the servers, and stay there. */
  #remoteGit(conversationId: string): RemoteGit | undefined {
    const { git_hosts: hosts = [] } = this.#hosted.get(conversationId) ?? {};
    if (hosts.length === 0) return undefined;
    const dial: RemoteGit['dial'] = (_host, _port, signal) => {
      const hosted = this.#hosted.get(conversationId);
      return hosted ? this.calls.open(hosted.incarnation, signal) : Promise.reject(new Error('the sandbox is no more'));
    };
    return { hosts, dial };
  }

  /** The persons are with the servers; the host's own sandbox has none. */
  async #ask(conversationId: string, place: Parameters<AskPerson>[1]): Promise<string | undefined> {
    const hosted = this.#hosted.get(conversationId);
    return hosted && this.questions.ask(hosted.incarnation, place);
  }

  async #find(conversationId: string, incarnation: string, signal: AbortSignal): Promise<LiveSandbox | GoneSandbox> {
    const record = await this.#options.records.get<SandboxRecord>('sandboxes', conversationId);
    if (record?.incarnation === incarnation && record.state === 'ended') return gone(record.reason);
    if (record?.incarnation === incarnation && record.state === 'asleep') return gone('the sandbox is hibernated');
    const isNew = this.#plans.has(conversationId);
    if (!isNew && record?.incarnation !== incarnation) return gone('the sandbox is no more');
    const runtime = await this.#runtimes.acquire(conversationId, { signal }).catch((cause: unknown) => {
      if (isNew || signal.aborted) throw cause;
      return undefined; // found dead
    });
    if (runtime === undefined) return gone('the sandbox ended');
    const live = this.#live(conversationId, runtime);
    return live?.runtime.incarnation === incarnation ? live : gone('the sandbox is no more');
  }

  #pause(incarnation: string, mode: IdleMode, pause: (id: string) => Promise<string | undefined>): Promise<SuspendAnswer | GoneSandbox> {
    const id = this.#conversationOf(incarnation);
    if (id === undefined) return Promise.resolve(gone('there is no such sandbox here'));
    if (this.#options.whenIdle !== mode)
      return Promise.resolve({ slept: false, reason: `the driver of its host does not ${mode} sandboxes` });
    return this.#mutex.run(id, async () => {
      const found = await this.#find(id, incarnation, AbortSignal.timeout(ATTACH_MS));
      if (found.state === 'gone') return found;
      const reason = await pause(id);
      return reason === undefined ? { slept: true } : { slept: false, reason };
    });
  }

  #live(conversationId: string, runtime: Runtime | undefined): LiveSandbox | undefined {
    const address = this.#runtimes.addressOf(conversationId);
    const ports = this.#runtimes.ports(conversationId);
    return runtime && address && ports ? { state: 'live', runtime, address, ports } : undefined;
  }

  #conversationOf(incarnation: string): string | undefined {
    for (const hosted of this.#hosted.values()) if (hosted.incarnation === incarnation) return hosted.conversation_id;
    return undefined;
  }

  async #workspaceOf(conversationId: string): Promise<HostedWorkspace | undefined> {
    if (conversationId !== OWN) {
      const hosted = this.#hosted.get(conversationId);
      const refusal = hosted && outsideRoots(hosted.workspace, await this.#roots);
      if (refusal !== undefined) throw new Error(refusal);
      return hosted && { hostPath: hosted.workspace, isReadOnly: hosted.read_only === true };
    }
    const folder = await workspaceFolder(await this.#roots, OWN_FOLDER, undefined);
    if (!folder.ok) throw new Error(folder.error.message);
    return { hostPath: folder.path };
  }
}

function ownPlan(): SandboxPlan {
  return { incarnation: newIncarnation(), leaseSeconds: OWN_LEASE_SECONDS, noOutputTimeoutSeconds: NO_OUTPUT_SECONDS };
}

function gone(reason: string): GoneSandbox {
  return { state: 'gone', reason };
}
