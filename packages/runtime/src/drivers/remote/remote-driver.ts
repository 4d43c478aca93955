import { type Strength, KeyedMutex } from '@tendon/core';
import { isWider, type NetworkMode } from '../../egress/network-policy.ts';
import type { Asked, RemoteSandboxes, SandboxDriver, Probe, SandboxHandle, SandboxSpec } from '../driver.ts';
import { IDLE_MODES, type HostInfo, type StartRequest } from '../../executor-host-api.ts';
import { HostProblem, isAway } from './host-client.ts';
import { lookAt, RemoteHosts, type Look, type RemoteHost, type RemoteHostOptions } from './remote-hosts.ts';

/** Longer than the deadlines of the phases in which the host starts and probes a sandbox. */
const START_MS = 90_000;
const INSIDE = '/workspace';
/** From the strongest to the weakest. */
const STRENGTHS: readonly Strength[] = ['container', 'os-sandbox', 'none'];

/**
 * Sandboxes on other hosts, which `tendon executor` runs there with its own driver. Owns nothing: this server names an incarnation, and the
 * host starts, watches and ends it. When the server is gone, the lease of the sandbox ends it. A conversation stays on the host that its
 * record names; an old record that names no host means the first one.
 */
export function createRemoteDriver(...of: readonly [RemoteHostOptions, ...RemoteHostOptions[]]): SandboxDriver {
  const hosts = new RemoteHosts(of);
  const [first] = hosts.all as readonly [RemoteHost, ...RemoteHost[]];
  const ended = new Set<string>();
  /** The same on all hosts; known once they were probed. */
  let whenIdle: SandboxDriver['whenIdle'];
  let mountsReadOnly: boolean | undefined;

  function learn(looks: readonly Look[]): void {
    const sandboxes = looks.flatMap((look) => ('info' in look ? [look.info.sandbox] : []));
    if (sandboxes[0] === undefined) return;
    whenIdle = IDLE_MODES[sandboxes[0].sleeps ?? 'never'];
    mountsReadOnly = sandboxes.some((one) => one.mounts_read_only);
  }

  const hostOf = ({ host }: Asked): RemoteHost | undefined => (host === undefined ? first : hosts.named(host));

  async function end(host: RemoteHost, incarnation: string, { ownerEpoch = 0 }: Asked): Promise<void> {
    await host.client.end(incarnation, ownerEpoch);
    ended.add(urlOf(host, incarnation));
  }

  return {
    name: 'remote',
    get whenIdle() {
      return whenIdle;
    },
    get mountsReadOnly() {
      return mountsReadOnly;
    },
    startMs: START_MS,
    async probe(address) {
      const one = hosts.named(address);
      const looks = one ? [await lookAt(one)] : await hosts.look();
      if (one === undefined || hosts.all.length === 1) learn(looks);
      return probeOf(looks);
    },
    async start(spec, { signal }): Promise<SandboxHandle> {
      const host = hosts.named(spec.host) ?? first;
      try {
        const options = { signal, ownerEpoch: spec.ownerEpoch ?? 0 };
        const { workspace, is_new: isNew } = await host.client.start(spec.incarnation, startRequest(spec), options);
        return { url: urlOf(host, spec.incarnation), groups: [], workspace, ...(isNew && { isNew }) };
      } finally {
        hosts.placed(host.address, spec.conversationId);
      }
    },
    isAlive: (handle) => handle.url !== undefined && !ended.has(handle.url),
    async end(handle, asked = {}) {
      const host = hosts.ofSandbox(handle.url);
      if (host !== undefined) await end(host, incarnationOf(handle), asked);
    },
    async endIncarnations(incarnations, askedOf = () => ({})) {
      for (const incarnation of incarnations) {
        const asked = askedOf(incarnation);
        const host = hostOf(asked);
        if (host !== undefined) await end(host, incarnation, asked);
      }
    },
    remote: remoteOf(hosts),
    async forget(conversationId, { workspace, ownerEpoch = 0, ...asked }) {
      await hostOf(asked)?.client.forget(conversationId, { workspace, ownerEpoch });
    },
  };
}

/** What the hosts do apart from starting and ending sandboxes. */
function remoteOf(hosts: RemoteHosts): RemoteSandboxes {
  /** Sent one after the other, each with the policy of that moment, so that an older policy never arrives after a newer one. */
  const sending = new KeyedMutex();
  return {
    firstHost: hosts.all[0]!.address,
    knows: (address) => hosts.named(address) !== undefined,
    place: (request) => hosts.place(request),
    hosts: () => hosts.infos(),
    drain: async (address, isDraining) => {
      const host = hosts.named(address.replace(/\/+$/, ''));
      if (host === undefined)
        throw new Error(`${address} is none of the hosts that are configured: ${hosts.all.map((one) => one.address).join(', ')}`);
      await host.client.drain(isDraining);
    },
    headers: (handle) => hosts.ofSandbox(handle.url)?.headers() ?? {},
    proxy: {
      async setNetwork(handle, network) {
        const host = hosts.ofSandbox(handle.url);
        if (host === undefined) return;
        const incarnation = incarnationOf(handle);
        await sending.run(incarnation, async () => host.client.setNetwork(incarnation, await network()));
      },
      refusedHosts: async (handle) => hosts.ofSandbox(handle.url)?.client.refusedHosts(incarnationOf(handle)) ?? [],
    },
  };
}

function urlOf({ address }: RemoteHost, incarnation: string): string {
  return `${address}/sandboxes/${incarnation}`;
}

function incarnationOf({ url = '' }: SandboxHandle): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

function startRequest(spec: SandboxSpec): StartRequest {
  const { conversationId, leaseSeconds, noOutputTimeoutSeconds, network, gitHosts, isReadOnly } = spec;
  const directory = directoryOf(spec);
  return {
    conversation_id: conversationId,
    lease_seconds: leaseSeconds,
    no_output_timeout_seconds: noOutputTimeoutSeconds,
    ...(directory !== undefined && { directory }),
    network: { mode: network.mode, allow: network.allow },
    git_hosts: gitHosts,
    ...(isReadOnly && { read_only: true }),
  };
}

/** A folder of a conversation must be below the workspace: paths of this host mean nothing on the other one. */
function directoryOf({ workspace }: SandboxSpec): string | undefined {
  return workspace.startsWith(`${INSIDE}/`) ? workspace.slice(INSIDE.length + 1) : undefined;
}

interface Known {
  readonly host: RemoteHost;
  readonly info: HostInfo;
}

/** The weakest strength and the narrowest network of all hosts that answer: each of them gives at least that. */
function probeOf(looks: readonly Look[]): Probe {
  const known = looks.flatMap((look) => ('info' in look ? [look] : []));
  const away = looks.flatMap((look) => ('problem' in look ? [look] : []));
  if (known.length === 0) return unavailable(away);
  const sandboxes = known.map(({ info }) => info.sandbox);
  const strength = STRENGTHS.findLast((name) => sandboxes.some((one) => one.strength === name))!;
  const mode = sandboxes.map((one) => one.network.mode).reduce((a: NetworkMode, b) => (isWider(a, b) ? b : a));
  const isPlain = looks.some(({ host: { url } }) => url.protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname));
  return {
    available: true,
    network: { mode, isPoliced: sandboxes.every((one) => one.network.is_policed) },
    strength,
    description: descriptionOf(known),
    limits: [
      ...new Set(sandboxes.flatMap(({ limits }) => limits)),
      ...(isPlain ? ['the way to it is not encrypted: use https'] : []),
      ...away.map(({ problem }) => `a host is away: ${messageOf(problem)}`),
    ],
  };
}

function descriptionOf(known: readonly Known[]): string {
  const descriptions = new Set(known.map(({ info }) => info.sandbox.description));
  if (descriptions.size === 1) return `on ${known.map(({ host }) => host.url.host).join(', ')}: ${[...descriptions][0]}`;
  return known.map(({ host, info }) => `on ${host.url.host}: ${info.sandbox.description}`).join('; ');
}

function unavailable(away: readonly { readonly host: RemoteHost; readonly problem: unknown }[]): Probe {
  const reasons = away.map(({ host, problem }) =>
    problem instanceof HostProblem
      ? problem.message
      : `the executor host at ${host.url.href} does not answer as it should: ${messageOf(problem)}`,
  );
  const fixes = away.map(({ problem }) => (problem instanceof HostProblem && problem.fix !== '' ? problem.fix : 'Look at what it prints.'));
  const probe = { available: false, reason: reasons.join('; '), fix: [...new Set(fixes)].join(' ') } as const;
  // One is enough to serve with.
  return away.some(({ problem }) => isAway(problem)) ? { ...probe, isAway: true } : probe;
}

function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
