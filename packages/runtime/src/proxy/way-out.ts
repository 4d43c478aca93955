import { dial } from './dial.ts';
import { dialThrough } from './dial-through.ts';
import { createGitBroker, type GitAccess } from './git-broker.ts';
import type { ProxyOptions } from './listen-proxy.ts';
import { DEFAULT_NETWORK, type NetworkPolicy } from './network-policy.ts';
import { policedDial } from './policed-dial.ts';
import { createRefusedHosts, type RefusedHost, type RefusedHosts } from './refused-hosts.ts';

export interface WayOutOptions {
  /** The proxy that this host itself must use, and what it is not used for (`HTTPS_PROXY`, `NO_PROXY`). */
  readonly upstreamProxy?: { readonly url: URL; readonly except?: string };
  /** Asked for each connection. Default: the public internet. */
  readonly networkOf?: (conversationId: string) => Promise<NetworkPolicy>;
  /** Default: git goes where everything goes, without a token. */
  readonly git?: GitAccess;
  readonly notice: (notice: string) => void;
}

/** How the sandboxes of one server reach the world: each by its conversation's policy. */
export interface WayOut {
  of(conversationId: string): ProxyOptions;
  policyOf(conversationId: string): Promise<NetworkPolicy>;
  gitHosts(): readonly string[];
  refusedHosts(conversationId: string): readonly RefusedHost[];
  forget(conversationId: string): void;
}

export function createWayOut({ upstreamProxy, networkOf, git, notice }: WayOutOptions): WayOut {
  const reach = upstreamProxy ? dialThrough(upstreamProxy.url, upstreamProxy.except) : dial;
  const refusals = new Map<string, RefusedHosts>();

  function refusedOf(conversationId: string): RefusedHosts {
    const known = refusals.get(conversationId) ?? createRefusedHosts();
    refusals.set(conversationId, known);
    return known;
  }

  const policyOf = async (conversationId: string): Promise<NetworkPolicy> => (await networkOf?.(conversationId)) ?? DEFAULT_NETWORK;

  return {
    policyOf,
    of(conversationId) {
      const policed = policedDial({
        policy: () => policyOf(conversationId),
        dial: reach,
        refused: refusedOf(conversationId),
        onRefused: (place, reason) => notice(`the sandbox of conversation ${conversationId} may not connect to ${place}: ${reason}`),
      });
      if (git === undefined) return { dial: policed };
      const onUse = (use: string): void => notice(`git of conversation ${conversationId}: ${use}`);
      return { dial: policed, git: createGitBroker({ access: git, dial: policed, onUse }) };
    },
    gitHosts: () => git?.hosts() ?? [],
    refusedHosts: (conversationId) => refusals.get(conversationId)?.list ?? [],
    forget: (conversationId) => void refusals.delete(conversationId),
  };
}
