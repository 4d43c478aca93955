import type { EngineClient } from './engine-client.ts';

/** Facts about an engine that are needed before a container is created. */
export interface EngineFacts {
  /** As in "Docker 20.10.24". */
  readonly name: string;
  readonly isPodman: boolean;
  /** Runs as an ordinary user: its root is that user. */
  readonly isRootless: boolean;
  /** Gives containers other user ids than the host's, unless configured not to. */
  readonly remapsUsers: boolean;
  readonly hasSelinux: boolean;
  /** Go's names, e.g. `amd64`. */
  readonly architecture: string;
  /** Names of the OCI runtimes that it may be asked for. */
  readonly ociRuntimes: readonly string[];
}

interface Info {
  readonly SecurityOptions?: readonly string[] | null;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
}

interface Version {
  readonly Version: string;
  readonly Arch: string;
  readonly Components?: readonly { readonly Name: string }[];
}

export async function engineFacts(engine: EngineClient): Promise<EngineFacts> {
  const ask = { method: 'GET', deadlineMs: 10_000 } as const;
  const [version, info] = await Promise.all([
    engine.json<Version>({ ...ask, path: '/version' }),
    engine.json<Info>({ ...ask, path: '/info' }),
  ]);
  const isPodman = (version.Components ?? []).some(({ Name }) => Name.startsWith('Podman'));
  const has = (name: string): boolean => (info.SecurityOptions ?? []).some((option) => option.split(',').includes(`name=${name}`));
  return {
    name: `${isPodman ? 'Podman' : 'Docker'} ${version.Version.replace(/[+~].*/, '')}`,
    isPodman,
    isRootless: has('rootless'),
    remapsUsers: has('userns'),
    hasSelinux: has('selinux'),
    architecture: version.Arch,
    // Podman takes the one of its own configuration, whatever the request says.
    ociRuntimes: isPodman ? [] : Object.keys(info.Runtimes ?? {}),
  };
}
