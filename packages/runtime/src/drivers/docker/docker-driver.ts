import { DEFAULT_LIMITS, type Limits } from '../control-group.ts';
import type { Driver, Probe, SandboxHandle, SandboxSpec } from '../driver.ts';
import type { ExecutorFolder } from '../executor-folder.ts';
import { killAll, killPids } from '../kill-all.ts';
import { ownFolders, prepareFolders, refuseHidden, sandboxUser, type OwnFolders } from '../prepare-folders.ts';
import { findProcesses, isAlive } from '../process-identity.ts';
import { listContainers, removeContainer } from './containers.ts';
import type { ContainerBind, ContainerNetwork, PublishedPort } from './container-request.ts';
import { withWantedId } from './container-user.ts';
import { createEngineClient } from './engine-client.ts';
import { EngineUnreachable, explained } from './engine-error.ts';
import { findEngine } from './find-engine.ts';
import { unmountNamed } from './id-mapped-mount.ts';
import { describeImage, inspectImage, type Image } from './image.ts';
import { probeDocker } from './probe-docker.ts';
import { pullImage } from './pull-image.ts';
import { strayIncarnations } from './stray-incarnations.ts';
import { startContainer } from './start-container.ts';

export interface DockerDriverOptions extends Partial<OwnFolders> {
  readonly executor: ExecutorFolder;
  /** Any Linux image of this processor; it is used as it is. */
  readonly image: string;
  /** `unix:///path` or a path; the usual ones when missing. */
  readonly host?: string;
  readonly limits?: Limits;
  readonly network?: ContainerNetwork;
  /** The user inside where nobody owns the workspace but root. */
  readonly userId?: number;
  readonly volumes?: readonly ContainerBind[];
  readonly ports?: readonly PublishedPort[];
  readonly isRootReadOnly?: boolean;
}

/**
 * A container around one long-lived executor, on a Docker or Podman engine of this machine. Owns the containers with its label;
 * not the folders on disk, and no image. Invariants:
 * 1. A container is never started twice: what died is removed, and the next incarnation has a container of its own.
 * 2. What could not be removed because the engine was away is removed when it is back.
 */
export function createDockerDriver(options: DockerDriverOptions): Driver {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const images = new Map<string, Image>();
  const owed = new Set<string>();
  const engine = createEngineClient(findEngine(options.host));

  async function prepare({ signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (text: string) => void }) {
    try {
      if ((await inspectImage(engine, options.image, signal)) === undefined) await pullImage(engine, options.image, { signal, onProgress });
    } catch (error) {
      throw signal.aborted ? error : explained(error);
    }
  }

  async function start(spec: SandboxSpec, { signal }: { readonly signal: AbortSignal }): Promise<SandboxHandle> {
    refuseHidden(spec.workspace, await ownFolders(options, spec.folders));
    const user = withWantedId(await sandboxUser(spec), options.userId);
    await prepareFolders(spec, user);
    try {
      await settleDebts();
      const image = await imageOf(spec, signal);
      return await startContainer({ engine, image, user, limits, options }, spec, signal);
    } catch (error) {
      await endByIncarnation(spec.incarnation);
      throw signal.aborted ? error : explained(error);
    }
  }

  async function imageOf(spec: SandboxSpec, signal: AbortSignal): Promise<Image> {
    const inspected = await inspectImage(engine, options.image, signal);
    if (inspected === undefined) throw new Error(`No such image: ${options.image}`);
    const image = images.get(inspected.Id) ?? (await describeImage(engine, inspected, spec, signal));
    images.set(image.id, image);
    return image;
  }

  /** The anchor is the first process of the namespace: the kernel ends all others with it, also where the engine is away. */
  async function end(handle: SandboxHandle): Promise<void> {
    const { anchor, container } = handle;
    if (container !== undefined) await unlessAway(container, () => removeContainer(engine, container));
    if (anchor !== undefined) await killAll([anchor]);
  }

  async function endByIncarnation(incarnation: string): Promise<void> {
    await unlessAway(incarnation, async () => {
      for (const { Id } of await listContainers(engine, incarnation)) await removeContainer(engine, Id);
    });
    await killPids(async () => findProcesses(incarnation, 'cmdline'));
    await unmountNamed(incarnation);
  }

  async function unlessAway(name: string, remove: () => Promise<void>): Promise<void> {
    try {
      await remove();
      owed.delete(name);
    } catch (error) {
      if (!(error instanceof EngineUnreachable)) throw explained(error);
      owed.add(name);
    }
  }

  async function settleDebts(): Promise<void> {
    for (const name of owed) {
      for (const { Id, Labels } of await listContainers(engine)) {
        if (Id === name || Object.values(Labels).includes(name)) await removeContainer(engine, Id);
      }
      owed.delete(name);
    }
  }

  return {
    name: 'docker',
    limits,
    probe: (): Promise<Probe> => probeDocker(engine, { ...options, limits }),
    prepare,
    start,
    isAlive: ({ anchor }) => anchor !== undefined && isAlive(anchor),
    end,
    endByIncarnation,
    strays: (stateRoot) => strayIncarnations(engine, stateRoot),
    pause: async ({ container }) => void (await engine.json({ method: 'POST', path: `/containers/${container}/pause` })),
    resume: async ({ container }) => void (await engine.json({ method: 'POST', path: `/containers/${container}/unpause` })),
  };
}
