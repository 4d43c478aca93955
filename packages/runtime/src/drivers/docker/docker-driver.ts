import { lstat } from 'node:fs/promises';
import { groupsNamed, limitsOf, removeGroups, type Limits, killAll, killPids } from '../../processes/control-group.ts';
import type { SandboxDriver, SandboxHandle, SandboxSpec } from '../driver.ts';
import { heldOf, ownFolders, prepareFolders, refuseHidden, sandboxUser } from '../start/prepare-folders.ts';
import { findIncarnations, isAlive } from '../../processes/process-identity.ts';
import { startSidecar } from './sidecar.ts';
import { withWantedId } from './container-user.ts';
import { finalLogsOf, listContainers, logsOf, removeContainer, INCARNATION_LABEL, OWNER_LABEL, UID_LABEL } from './engine/containers.ts';
import { createEngineClient, type EngineClient, findEngine } from './engine/engine-client.ts';
import { explained, EngineUnreachable } from './engine/engine-error.ts';
import { engineFacts, type EngineFacts } from './engine/engine-facts.ts';
import { unmountNamed } from './held-mount.ts';
import { createImageSource } from './engine/image-source.ts';
import { probeDocker } from './probe-docker.ts';
import { startContainer } from './start-container.ts';
import { INCARNATION } from '../../incarnation.ts';
import type { DockerDriverOptions } from './docker-driver-options.ts';

/**
 * A container around one long-lived executor, on a Docker or Podman engine of this machine. Owns the containers with its label;
 * not the folders on disk, and no image.
 *
 * DOC1  A container is never started twice: what died is removed, and the next incarnation has a container of its own.
 * DOC2  A browser beside a container has control groups of its own: the engine removes the container's with it.
 * DOC3  What could not be removed because the engine was away is removed when it is back.
 */
export function createDockerDriver(options: DockerDriverOptions): SandboxDriver {
  const limits = limitsOf(options.limits ?? {});
  const found = findEngine(options.host);
  const engine = createEngineClient('socketPath' in found ? found.socketPath : '/nowhere');
  const images = createImageSource(engine, { image: options.image, mayPull: options.mayPull ?? true });
  const remover = createRemover(engine);
  let facts: Promise<EngineFacts> | undefined;

  /** Determined once, and again after a failure, because the engine may be another one by then. */
  function factsNow(): Promise<EngineFacts> {
    facts ??= engineFacts(engine);
    facts.catch(() => (facts = undefined));
    return facts;
  }

  async function start(spec: SandboxSpec, { signal }: { readonly signal: AbortSignal }): Promise<SandboxHandle> {
    const own = await ownFolders(options, spec.folders);
    refuseHidden(heldOf(spec), own);
    const user = withWantedId(sandboxUser(spec), options.userId);
    await prepareFolders(spec, user);
    try {
      await remover.settle();
      const image = await images.describe(spec, signal);
      const surroundings = { engine, facts: await factsNow(), image, user, limits, options, own };
      return await startContainer(surroundings, spec, signal);
    } catch (error) {
      facts = undefined;
      await endIncarnations([spec.incarnation]);
      throw signal.aborted ? error : explained(error);
    }
  }

  /** The anchor is the first process of the namespace: the kernel ends all others with it, also where the engine is away. */
  async function end({ anchor, container }: SandboxHandle): Promise<void> {
    if (container !== undefined) await remover.remove([container]);
    if (anchor !== undefined) await killAll([anchor]);
  }

  async function endIncarnations(incarnations: readonly string[]): Promise<void> {
    await remover.remove(incarnations);
    await endBeside(incarnations);
  }

  return {
    name: 'docker',
    limits,
    whenIdle: 'suspend',
    async probe() {
      if ('problem' in found) return { available: false, reason: found.problem, fix: 'Set DOCKER_HOST=unix:///path.' };
      return probeDocker(factsNow, { ...options, limits });
    },
    async prepare({ signal, onProgress }) {
      await images.fetch({ signal, onProgress }).catch((error: unknown) => {
        throw signal.aborted ? error : explained(error);
      });
    },
    start,
    isAlive: isRunning,
    end,
    endIncarnations,
    mountsReadOnly: true,
    startBrowser: browserSidecar(options, limits),
    lastLines: (handle) => printedBy(engine, handle),
    strays: (stateRoot) => strayIncarnations(engine, stateRoot),
  };
}

function isRunning({ anchor }: SandboxHandle): boolean {
  return anchor !== undefined && isAlive(anchor);
}

async function printedBy(engine: EngineClient, handle: SandboxHandle): Promise<string> {
  if (handle.container === undefined) return '';
  return isRunning(handle) ? logsOf(engine, handle.container) : finalLogsOf(engine, handle.container);
}

function browserSidecar(options: DockerDriverOptions, limits: Limits): NonNullable<SandboxDriver['startBrowser']> {
  return async (handle, place, request) => {
    const { hidden } = await ownFolders(options, place.folders);
    const user = withWantedId(sandboxUser(place), options.userId);
    return startSidecar(handle, place, request, { user, limits, hidden, protects: handle.protection?.mounts ?? [] });
  };
}

/** What these have left on this machine besides their containers. */
async function endBeside(incarnations: readonly string[]): Promise<void> {
  await killPids(() => findIncarnations(incarnations, 'cmdline'));
  await removeGroups(groupsNamed(incarnations));
  await unmountNamed(incarnations);
}

/** Removes containers; remembers those that it could not remove because the engine was away. */
interface Remover {
  /** Removes by container ids or incarnations. Also resolves when the engine is away: then the removal is pending. */
  remove(names: readonly string[]): Promise<void>;
  /** Called before a start: makes the pending removals. */
  settle(): Promise<void>;
}

function createRemover(engine: EngineClient): Remover {
  const owed = new Set<string>();

  async function removeNow(names: readonly string[]): Promise<void> {
    const all = await listContainers(engine);
    const meant = all.filter(({ Id, Labels }) => names.includes(Id) || names.includes(Labels[INCARNATION_LABEL] ?? ''));
    for (const { Id } of meant) await removeContainer(engine, Id);
    for (const name of names) owed.delete(name);
  }

  return {
    async remove(names) {
      try {
        await removeNow(names);
      } catch (error) {
        if (!(error instanceof EngineUnreachable)) throw explained(error);
        for (const name of names) owed.add(name);
      }
    },
    async settle() {
      if (owed.size > 0) await removeNow([...owed]);
    },
  };
}

/** Limits how long an engine that hangs delays the search for what it may have left. */
const DEADLINE_MS = 5000;

/** Incarnations that only the engine knows of: of this state root, or of one of this user that is no more. None while it is away. */
async function strayIncarnations(engine: EngineClient, stateRoot: string): Promise<readonly string[]> {
  const uid = String(process.getuid?.() ?? 0);
  const found: string[] = [];
  for (const { Labels } of await listContainers(engine, DEADLINE_MS).catch(() => [])) {
    const { [OWNER_LABEL]: owner, [INCARNATION_LABEL]: incarnation } = Labels;
    // Images have labels too: only what can be one of ours is looked for on this machine, and ended.
    if (owner === undefined || !INCARNATION.test(incarnation ?? '') || Labels[UID_LABEL] !== uid) continue;
    if (owner === stateRoot || (await isGone(owner))) found.push(incarnation!);
  }
  return found;
}

/** Only if that is certain: a folder that cannot be read may still belong to somebody. */
async function isGone(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
