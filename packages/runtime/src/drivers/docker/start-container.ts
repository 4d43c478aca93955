import { mkdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import { findHierarchies, type Limits } from '../../processes/control-group.ts';
import { browserSocketPathOf, socketPathOf, startLogOf, type SandboxHandle, type SandboxSpec } from '../driver.ts';
import type { HeldFolder } from '../../workspace/held-folder.ts';
import type { HostUser } from '../start/host-user.ts';
import { INSIDE, insideConfig } from '../start/inside.ts';
import { keepExecutor } from '../start/executor-folder.ts';
import { bindsOnto, masks, pins } from '../bubblewrap/visible.ts';
import { heldOf, protectWorkspace, type RealFolders } from '../start/prepare-folders.ts';
import type { Protection } from '../../workspace/protected/protect.ts';
import { identify } from '../../processes/process-identity.ts';
import { INJECTED } from '../start/injected-places.ts';
import { injectedFolder } from './injected.ts';
import { CONTAINER_HOME, containerRequest, type ContainerBind } from './container-request.ts';
import { containerUser, userFiles, type ContainerUser } from './container-user.ts';
import { finalLogsOf, inspect, labelsOf, ownerOf } from './engine/containers.ts';
import type { DockerDriverOptions } from './docker-driver-options.ts';
import type { EngineClient } from './engine/engine-client.ts';
import type { EngineFacts } from './engine/engine-facts.ts';
import { mountHeld, unmountNamed } from './held-mount.ts';
import type { Image } from './engine/image.ts';
import { seccompProfile } from './seccomp-profile.ts';

export interface Surroundings {
  readonly engine: EngineClient;
  readonly facts: EngineFacts;
  readonly image: Image;
  readonly user: HostUser;
  readonly limits: Limits;
  readonly options: DockerDriverOptions;
  readonly own: RealFolders;
}

/** Starts one container with the executor as its first process. Whatever a failure leaves is found by the incarnation's label. */
export async function startContainer(surroundings: Surroundings, spec: SandboxSpec, signal: AbortSignal): Promise<SandboxHandle> {
  const { engine, facts, image, user, own, options } = surroundings;
  // The injected programs would run, and nothing of the image.
  if (image.architecture !== facts.architecture) throw new Error(`exec format error: the image is for ${image.architecture}`);
  const held = heldOf(spec);
  // An engine takes paths. Root gives it one that leads to the folder itself; for others the executor checks that it got the same.
  const isMounted = user.staged && !facts.isRootless;
  const workspace = isMounted ? join(spec.folders.stage, 'workspace') : spec.workspace;
  const isByPath = !isMounted || facts.isPodman; // which binds nothing of what is mounted below a folder
  const names = options.protects ?? [];
  const protection = await protectWorkspace(spec, own, names, isByPath ? (path) => isNear(path, names) : undefined);
  if (isMounted) await mountHeld(held, workspace, user, isByPath ? [] : protection.mounts);
  const inside = containerUser(user, facts);
  const binds = await bindsOf(surroundings, spec, { workspace, inside });
  // A staged workspace has another source; what lies in it is known by its own path.
  const masked = masks(
    own.hidden,
    binds.map((bind) => (bind.source === workspace ? { ...bind, source: spec.workspace } : bind)),
  );
  const writable = binds.filter(({ readOnly }) => !readOnly).map((bind) => ({ ...bind, writable: true }));
  const plan = {
    ...surroundings.options,
    image: image.id,
    imageEnvironment: image.environment,
    user: inside,
    facts,
    labels: labelsOf(spec),
    limits: surroundings.limits,
    network: surroundings.options.network ?? 'proxy',
    binds: [
      ...binds,
      ...pins(masked, writable).map(({ source, target }) => ({ source, target })),
      ...(isByPath ? protecting(workspace, protection) : []),
    ],
    masks: masked,
    ports: surroundings.options.ports ?? [],
    isRootReadOnly: surroundings.options.isRootReadOnly ?? false,
    ociRuntime: surroundings.options.ociRuntime,
    seccomp: await writeProfile(spec, facts),
    command: commandOf(
      surroundings,
      isMounted ? { ...spec, held: undefined } : spec,
      protection.mounts.map(({ identity, ...mount }) => ({ ...mount, ...(isByPath && { identity }) })),
    ),
  };
  signal.throwIfAborted();
  // Not given up half way: an engine would finish it, after everything of it has been removed.
  const path = `/containers/create?name=tendon-${spec.incarnation}`;
  const { Id: container } = await engine.json<{ Id: string }>({ method: 'POST', path, body: containerRequest(plan) });
  await engine.json({ method: 'POST', path: `/containers/${container}/start` });
  signal.throwIfAborted();
  const kernelPackages = kernelPackagesOf(surroundings, spec);
  const handle = { ...(await handleOf(engine, container, spec, signal)), kernelPackages, protection };
  await refuseOtherFolder(handle, held);
  if (isMounted) await unmountNamed([spec.incarnation]);
  return handle;
}

function protecting(workspace: string, { mounts }: Protection): readonly ContainerBind[] {
  return bindsOnto(workspace, INSIDE.workspace, mounts).map(({ source, target, writable }) => ({ source, target, readOnly: !writable }));
}

/**
 * Whether it lies in the top folder, and not below other folders of the agent's, where a link may be put in the way meanwhile: the
 * engine follows it, and Podman makes a folder where it leads to nothing.
 */
function isNear(path: string, names: readonly string[]): boolean {
  const [first = '', ...rest] = path.split('/');
  return rest.length === 0 || names.includes(first);
}

async function handleOf(engine: EngineClient, container: string, spec: SandboxSpec, signal: AbortSignal): Promise<SandboxHandle> {
  const inspected = await inspect(engine, container, signal);
  const state = inspected?.State;
  const anchor = state?.Running ? identify(state.Pid) : undefined;
  if (state === undefined || anchor === undefined) {
    const logs = await finalLogsOf(engine, container).catch(() => '');
    await writeFile(startLogOf(spec.folders), logs);
    throw new Error(logs.split('\n').at(-1) || `the container ended at once with exit code ${state?.ExitCode ?? '?'}`);
  }
  const rootLayer = inspected?.GraphDriver?.Data?.UpperDir;
  return {
    ...{ anchor, container, engine: engine.socketPath, socketPath: socketPathOf(spec.folders), groups: await groupsOf(anchor.pid) },
    ...(rootLayer !== undefined && { rootLayer }),
  };
}

/** The control groups that the engine made. */
async function groupsOf(pid: number): Promise<readonly string[]> {
  const [mountinfo, cgroup] = await Promise.all([
    readFile('/proc/self/mountinfo', 'utf8'),
    readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => ''),
  ]);
  return findHierarchies(mountinfo, cgroup).map(({ ownGroup }) => ownGroup);
}

/** An engine in a machine or a mount namespace of its own would bind an empty folder, and the agent's work would be lost in it. */
async function refuseOtherFolder({ anchor }: SandboxHandle, { identity }: HeldFolder): Promise<void> {
  // If this process may not read it, nothing is known here.
  const seen = await stat(`/proc/${anchor?.pid}/root${INSIDE.workspace}`, { bigint: true }).catch(() => undefined);
  if (seen !== undefined && `${seen.dev}:${seen.ino}` !== identity) throw new Error('Mounts denied: the engine binds another folder');
}

async function bindsOf(
  { image, options }: Surroundings,
  spec: SandboxSpec,
  { workspace, inside }: { readonly workspace: string; readonly inside: ContainerUser },
): Promise<readonly ContainerBind[]> {
  const { folders } = spec;
  const cached = await injectedFolder(options.executor, join(ownerOf(spec), 'carried'));
  const injected = await keepExecutor(cached, join(folders.host, 'carried'));
  if (image.python3 !== undefined) await symlink(image.python3, join(injected, 'bin/python'));
  await mkdir(join(injected, basename(INSIDE.kernelPackages)), { mode: 0o755 });
  const kernelPackages = kernelPackagesOf({ image }, spec);
  await mkdir(kernelPackages, { recursive: true, mode: 0o755 });
  const etc = join(folders.host, 'etc');
  const terminals = join(folders.host, 'terminals');
  for (const folder of [etc, terminals]) await mkdir(folder, { recursive: true, mode: 0o755 });
  const files = Object.entries(userFiles(image, inside));
  await Promise.all(files.map(([name, text]) => writeFile(join(etc, name), text, { mode: 0o644 })));
  return [
    { source: injected, target: INJECTED.root, readOnly: true },
    { source: kernelPackages, target: INSIDE.kernelPackages, readOnly: true },
    ...files.map(([name]) => ({ source: join(etc, name), target: `/etc/${name}`, readOnly: true })),
    { source: terminals, target: INSIDE.terminals, readOnly: true },
    { source: folders.proxy, target: INSIDE.proxy, readOnly: true },
    { source: workspace, target: INSIDE.workspace, readOnly: spec.isReadOnly },
    { source: folders.home, target: CONTAINER_HOME },
    { source: folders.state, target: INSIDE.state },
    { source: folders.link, target: INSIDE.link },
    ...(await Promise.all((options.volumes ?? []).map(async (volume) => ({ ...volume, source: await realpath(volume.source) })))),
  ];
}

/** One for each image: its digest names its Pythons. */
function kernelPackagesOf({ image }: Pick<Surroundings, 'image'>, { folders }: SandboxSpec): string {
  return join(folders.kernels, `image-${image.id.replace(/^sha256:/, '').slice(0, 32)}`);
}

/** Podman reads a profile from a file, Docker from the request. */
async function writeProfile({ folders }: SandboxSpec, { isPodman }: EngineFacts): Promise<string> {
  const text = JSON.stringify(seccompProfile());
  if (!isPodman) return text;
  const path = join(folders.host, 'seccomp.json');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** Through the injected loader, so that nothing of it is taken from the image and no variable of it reaches the agent's programs. */
function commandOf(
  { image, options }: Surroundings,
  spec: SandboxSpec,
  protectedPaths: ExecutorConfig['folders']['protectedPaths'],
): readonly string[] {
  const config = insideConfig(spec, protectedPaths);
  const { proxySocketPath, ...network } = config.network ?? {};
  const isProxied = (options.network ?? 'proxy') === 'proxy';
  const browserSocketPath = join(INSIDE.proxy, basename(browserSocketPathOf(spec.folders)));
  const full: ExecutorConfig = {
    ...config,
    network: { ...network, ...(isProxied && { proxySocketPath, browserSocketPath }) },
    shell: { ...config.shell, bundled: { tools: INJECTED.tools, shell: INJECTED.bash }, environment: image.environment },
  };
  const node = [INJECTED.loader, '--library-path', INJECTED.lib, INJECTED.node];
  return [...node, join(INJECTED.executor, options.executor.entry), '--config', JSON.stringify(full)];
}
