import { setTimeout as delay } from 'node:timers/promises';
import type { Secret } from '@tendon/protocol/masking';
import { isWider } from '../../egress/network-policy.ts';
import type { HostInfo } from '../../executor-host-api.ts';
import type { PlaceRequest, SandboxHostInfo } from '../driver.ts';
import { createHostClient, HostProblem, type HostClient } from './host-client.ts';

export interface RemoteHostOptions {
  /** The address of `tendon executor`: `http` or `https`, with an optional path. */
  readonly url: URL;
  readonly key: Secret | undefined;
}

/** A host, and the address by which this server reaches it. */
export interface RemoteHost {
  /** Without a final slash; records identify the host by it. */
  readonly address: string;
  readonly url: URL;
  readonly client: HostClient;
  readonly headers: () => Readonly<Record<string, string>>;
}

/** The answer of a host, or why it cannot be used. */
export type Look = { readonly host: RemoteHost; readonly info: HostInfo } | { readonly host: RemoteHost; readonly problem: unknown };

/** How long to wait for the other hosts once one has answered: a host that is away must not delay every start. */
const OTHERS_MS = 1500;
/** A placement counts until its start is over, but not longer than this (RHO2). */
const PENDING_MS = 120_000;

/**
 * The executor hosts of a server. Owns no sandbox and no record: the record of a conversation names its host, and only a conversation
 * without a host is placed.
 *
 * RHO1  A new conversation goes to the host with the most memory for one more sandbox, among those that answer, are neither full nor drained,
 *       and offer what it needs.
 * RHO2  A recent placement counts on its host before the host reports it, so that simultaneous starts are spread.
 */
export class RemoteHosts {
  readonly all: readonly RemoteHost[];
  /** By host and conversation: when it was placed. */
  readonly #pending = new Map<string, Map<string, number>>();

  constructor(options: readonly RemoteHostOptions[]) {
    this.all = options.map(({ url, key }) => {
      const address = url.href.replace(/\/+$/, '');
      const headers = (): Record<string, string> => (key === undefined ? {} : { 'x-session-api-key': key.reveal() });
      return { address, url, headers, client: createHostClient(address, headers) };
    });
  }

  named(address: string | undefined): RemoteHost | undefined {
    return this.all.find((host) => host.address === address);
  }

  /** The host of a sandbox, by the sandbox's URL. */
  ofSandbox(url: string | undefined): RemoteHost | undefined {
    return this.all.find(({ address }) => url?.startsWith(`${address}/sandboxes/`));
  }

  /** The current answer of each host. Once one has answered, slow hosts are given up, unless `isPatient`. */
  async look({ isPatient = false } = {}): Promise<readonly Look[]> {
    const seen = new Map<RemoteHost, Look>();
    const asked = this.all.map(async (host) => {
      const look = await lookAt(host);
      seen.set(host, look);
      return look;
    });
    const enough = Promise.any(asked.map(async (one) => 'info' in (await one) || Promise.reject(new Error('it is away'))));
    const over = enough.then(
      () => delay(OTHERS_MS, undefined, { ref: false }),
      () => undefined,
    );
    await (isPatient ? Promise.all(asked) : Promise.race([Promise.all(asked), over]));
    return this.all.map((host) => seen.get(host) ?? { host, problem: new HostProblem(`${host.address} does not answer in time`, '') });
  }

  /** The address of the host for one more conversation. Rejects with a user-facing error that names each host with its reason. */
  async place(request: PlaceRequest): Promise<string> {
    const looks = await this.look();
    request.signal.throwIfAborted();
    const usable = looks.flatMap((look) => ('info' in look && refusalOf(look, looks, request) === undefined ? [look] : []));
    const [best] = usable
      .map((look) => ({ host: look.host, share: shareOf(look.info, this.#pendingAt(look.host.address)) }))
      .toSorted((a, b) => b.share - a.share);
    if (best === undefined) {
      const reasons = looks.map((look) => `${look.host.address}: ${refusalOf(look, looks, request)}`);
      throw new Error(`no host of sandboxes takes one more (${reasons.join('; ')})`);
    }
    this.#pendingOf(best.host.address).set(request.conversationId, performance.now());
    return best.host.address;
  }

  /** Called when a placed start is over, successful or not: from now on the host reports it itself. */
  placed(address: string, conversationId: string): void {
    this.#pendingOf(address).delete(conversationId);
  }

  async infos(): Promise<readonly SandboxHostInfo[]> {
    const looks = await this.look({ isPatient: true });
    return looks.map((look) => {
      const { address } = look.host;
      const refuses = refusalOf(look, looks);
      if ('problem' in look) return { address, refuses, isThere: false, version: undefined, description: undefined, capacity: undefined };
      const { version, sandbox, capacity } = look.info;
      return { address, refuses, isThere: true, version, description: `${sandbox.strength}: ${sandbox.description}`, capacity };
    });
  }

  #pendingAt(address: string): number {
    const [now, pending] = [performance.now(), this.#pendingOf(address)];
    for (const [id, at] of pending) if (now - at >= PENDING_MS) pending.delete(id);
    return pending.size;
  }

  #pendingOf(address: string): Map<string, number> {
    const pending = this.#pending.get(address) ?? new Map<string, number>();
    this.#pending.set(address, pending);
    return pending;
  }
}

export async function lookAt(host: RemoteHost): Promise<Look> {
  try {
    return { host, info: await host.client.info() };
  } catch (problem) {
    return { host, problem };
  }
}

/** The memory that one more sandbox would get (RHO1), reduced where the processors are busy. Hosts of earlier versions report nothing and come last. */
function shareOf({ capacity }: HostInfo, pending: number): number {
  if (capacity === undefined) return -pending;
  return capacity.free_memory_bytes / (capacity.sandboxes + pending + 1) / Math.max(1, capacity.load);
}

/** Why the host takes no new conversation, or not this one (RHO1). */
function refusalOf(look: Look, looks: readonly Look[], request?: PlaceRequest): string | undefined {
  if ('problem' in look) return look.problem instanceof Error ? look.problem.message : String(look.problem);
  const { sandbox, capacity } = look.info;
  if (capacity?.draining) return 'it is being drained';
  if (capacity && capacity.sandboxes >= capacity.max_sandboxes)
    return `it is full (${capacity.sandboxes} of ${capacity.max_sandboxes} sandboxes)`;
  const first = looks.find((one) => 'info' in one);
  if (first && 'info' in first && first.info.sandbox.sleeps !== sandbox.sleeps)
    return `its driver "${sandbox.driver}" does not do with idle sandboxes as "${first.info.sandbox.driver}" of ${first.host.address} does`;
  if (request?.isReadOnly && !sandbox.mounts_read_only) return 'it cannot mount a workspace read-only';
  if (request && isWider(request.network.mode, sandbox.network.mode)) return `it gives network "${sandbox.network.mode}" at most`;
  return undefined;
}
