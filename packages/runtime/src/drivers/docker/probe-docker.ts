import type { Limits } from '../../processes/control-group.ts';
import type { Probe } from '../driver.ts';
import { sizeText } from '../../size-text.ts';
import { missingToInject } from './injected.ts';
import type { DockerDriverOptions } from './docker-driver-options.ts';
import type { EngineFacts } from './engine/engine-facts.ts';
import { explain } from './engine/engine-error.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const NETWORKS = { proxy: 'own network', engine: 'NETWORK OF THE ENGINE' } as const;

/** Asks the engine, and whether this host has what a container needs of it; the image is a matter of the start. */
export async function probeDocker(
  factsNow: () => Promise<EngineFacts>,
  options: Omit<DockerDriverOptions, 'limits'> & { readonly limits: Limits },
): Promise<Probe> {
  if (process.platform !== 'linux') return no('containers of this server need Linux', 'Run the server in a Linux machine.');
  const missing = missingToInject();
  if (missing.length > 0) return no(`${missing.join(' and ')} is not installed`, `Install it: apt install ${missing.join(' ')}.`);
  try {
    const facts = await factsNow();
    if (facts.architecture !== ARCHITECTURES[process.arch]) {
      return no(`the engine runs ${facts.architecture} containers`, 'It must run on this machine, without emulating another processor.');
    }
    const { image, limits, network = 'proxy', ociRuntime } = options;
    const unknown = ociRuntime === undefined ? undefined : unknownRuntime(ociRuntime, facts);
    if (unknown !== undefined) return unknown;
    // The host's folders are mounted unchanged: SELinux would deny the container access to them unless their labels were changed.
    const layers = facts.hasSelinux ? ['seccomp', 'NOT CONFINED BY SELINUX'] : ['seccomp'];
    const engine = `${facts.name} (${image})${ociRuntime === undefined ? '' : ` with ${ociRuntime}`}`;
    const description = [engine, NETWORKS[network], sizeText(limits.memoryBytes), ...layers].join(', ');
    return { available: true, strength: 'container', description, limits: ['memory', 'pids', 'cpu'] };
  } catch (error) {
    const { reason, fix } = explain(error);
    return no(reason, fix);
  }
}

/** Newer engines start a shim of containerd (`io.containerd.kata.v2`) without an entry in its configuration. */
const SHIM = /^io\.containerd\./;

function unknownRuntime(name: string, { ociRuntimes, isPodman }: EngineFacts): Probe | undefined {
  if (isPodman) return no('Podman takes no runtime from SANDBOX_OCI_RUNTIME', 'Set runtime in the [engine] section of containers.conf.');
  if (SHIM.test(name) || ociRuntimes.includes(name)) return undefined;
  return no(
    `the engine knows no runtime ${name}, only ${ociRuntimes.join(', ')}`,
    `Install it and name it under "runtimes" in /etc/docker/daemon.json, then restart the engine; or change SANDBOX_OCI_RUNTIME.`,
  );
}

function no(reason: string, fix: string): Probe {
  return { available: false, reason, fix };
}
