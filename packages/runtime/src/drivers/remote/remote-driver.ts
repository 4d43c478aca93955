import { KeyedMutex } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { SandboxDriver, Probe, SandboxHandle, SandboxSpec } from '../driver.ts';
import { IDLE_MODES, type HostInfo, type StartRequest } from '../../executor-host-api.ts';
import { createHostClient, HostProblem, type HostClient } from './host-client.ts';

export interface RemoteDriverOptions {
  /** Of `tendon executor`: `http` or `https`, a path is allowed. */
  readonly url: URL;
  readonly key: Secret | undefined;
}

/** The host starts, probes and gives up a sandbox of its own in phases that have deadlines there. */
const START_MS = 90_000;
const INSIDE = '/workspace';

/**
 * Sandboxes on another host, run there by `tendon executor` with a driver of its own. Owns nothing: an incarnation is named here
 * and started, watched and ended there; its lease ends it when this server is no more.
 */
export function createRemoteDriver({ url, key }: RemoteDriverOptions): SandboxDriver {
  const base = url.href.replace(/\/+$/, '');
  const headers = (): Record<string, string> => (key === undefined ? {} : { 'x-session-api-key': key.reveal() });
  const host = createHostClient(base, headers);
  const ended = new Set<string>();
  /** One after the other, each with what holds when its turn comes: an older policy never arrives after a newer one. */
  const sending = new KeyedMutex();
  /** As its host does; known since it was probed. */
  let whenIdle: SandboxDriver['whenIdle'];
  let mountsReadOnly: boolean | undefined;

  const urlOf = (incarnation: string): string => `${base}/sandboxes/${incarnation}`;
  /** By the URL of the record, not this server's: only what was started there can be asked for there. */
  const incarnationOf = (handle: SandboxHandle): string | undefined =>
    handle.url?.startsWith(`${base}/`) ? handle.url.slice(handle.url.lastIndexOf('/') + 1) : undefined;

  async function end(incarnation: string): Promise<void> {
    await host.end(incarnation);
    ended.add(urlOf(incarnation));
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
    probe: () =>
      probe(host, url, (sandbox) => {
        whenIdle = IDLE_MODES[sandbox.sleeps ?? 'never'];
        mountsReadOnly = sandbox.mounts_read_only;
      }),
    async start(spec, { signal }): Promise<SandboxHandle> {
      const { workspace, is_new: isNew } = await host.start(spec.incarnation, startRequest(spec), { signal });
      return { url: urlOf(spec.incarnation), groups: [], workspace, ...(isNew && { isNew }) };
    },
    isAlive: (handle) => handle.url !== undefined && !ended.has(handle.url),
    async end(handle) {
      const incarnation = incarnationOf(handle);
      if (incarnation !== undefined) await end(incarnation);
    },
    async endIncarnations(incarnations) {
      for (const incarnation of incarnations) await end(incarnation);
    },
    remote: {
      headers,
      proxy: {
        async setNetwork(handle, network) {
          const incarnation = incarnationOf(handle);
          if (incarnation === undefined) return;
          await sending.run(incarnation, async () => host.setNetwork(incarnation, await network()));
        },
        async refusedHosts(handle) {
          const incarnation = incarnationOf(handle);
          return incarnation === undefined ? [] : host.refusedHosts(incarnation);
        },
      },
    },
    forget: host.forget,
  };
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

/** A conversation that names a folder names one below the workspace; the paths of this host mean nothing there. */
function directoryOf({ workspace }: SandboxSpec): string | undefined {
  return workspace.startsWith(`${INSIDE}/`) ? workspace.slice(INSIDE.length + 1) : undefined;
}

async function probe(host: HostClient, url: URL, onSandbox: (sandbox: HostInfo['sandbox']) => void): Promise<Probe> {
  try {
    const { sandbox } = await host.info();
    onSandbox(sandbox);
    const isPlain = url.protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
    const { mode, is_policed: isPoliced } = sandbox.network;
    return {
      available: true,
      network: { mode, isPoliced },
      strength: sandbox.strength,
      description: `on ${url.host}: ${sandbox.description}`,
      limits: [...sandbox.limits, ...(isPlain ? ['the way to it is not encrypted: use https'] : [])],
    };
  } catch (error) {
    if (error instanceof HostProblem) return { available: false, reason: error.message, fix: error.fix };
    const reason = `the executor host at ${url.href} does not answer as it should: ${(error as Error).message}`;
    return { available: false, reason, fix: 'Look at what it prints.' };
  }
}
