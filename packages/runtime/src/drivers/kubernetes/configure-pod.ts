import { setTimeout as delay } from 'node:timers/promises';
import { SIGNATURE_HEADER, type AwaitedConfig } from '@tendon/protocol/executor-api';

import { insideConfig } from '../start/inside.ts';
import { INJECTED } from '../start/injected-places.ts';
import type { SandboxSpec } from '../driver.ts';
import { ClusterProblem } from './api/api-error.ts';
import type { SigningKey } from './signing-key.ts';

const ASK_MS = 10_000;
const AGAIN_MS = 100;
/** Answers with which a waiting executor rejects the configuration. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403]);

export interface PodAddress {
  readonly url: string;
  /** The pod's uid, which no other pod ever has. */
  readonly place: string;
}

/** Sends the executor in a pod its configuration, and retries until it answers. Rejects with a `ClusterProblem`, or with the signal's reason. */
export async function configurePod(
  { url, place }: PodAddress,
  { awaited, key }: { readonly awaited: AwaitedConfig; readonly key: SigningKey },
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(awaited);
  const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: key.sign(place, body) };
  let last = '';
  for (;;) {
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]);
      const answer = await fetch(`${url}/config`, { method: 'PUT', body, headers, signal: within, redirect: 'error' });
      const text = (await answer.text()).slice(0, 1000);
      if (answer.ok) return;
      last = `status ${answer.status}: ${text}`;
      if (REFUSALS.has(answer.status)) throw new ClusterProblem(`the executor in the pod refuses its configuration (${last})`, IMAGE_FIX);
    } catch (error) {
      if (error instanceof ClusterProblem) throw error;
      if (!signal.aborted) last = String(((error as Error).cause as Error | undefined)?.message ?? (error as Error).message);
    }
    await delay(AGAIN_MS, undefined, { signal }).catch(() => {
      throw new ClusterProblem(`this server cannot reach the pod of the sandbox at ${url} (${last})`, NETWORK_FIX);
    });
  }
}

const IMAGE_FIX = 'SANDBOX_KUBERNETES_EXECUTOR_IMAGE must be of the same release as this server.';
const NETWORK_FIX =
  'It must run in the cluster or be routed to it, in a pod with the labels of SANDBOX_KUBERNETES_SERVER_LABELS, and a network policy must let it out to port 8700.';

/** The configuration of an incarnation's executor. Pure. */
export function awaitedConfig(spec: SandboxSpec, { key, isFresh }: { readonly key: string; readonly isFresh: boolean }): AwaitedConfig {
  const { endpoint: _, ...config } = insideConfig({ ...spec, held: undefined }, undefined);
  const workDir = spec.workspace.startsWith(`${config.folders.workspace}/`) ? spec.workspace : config.folders.workspace;
  return {
    key,
    isFresh,
    config: {
      ...config,
      folders: { ...config.folders, workDir },
      network: { ...config.network, egressByHost: true },
      shell: { program: config.shell.program, isAlone: true, bundled: { tools: INJECTED.tools, shell: INJECTED.bash } },
    },
  };
}
