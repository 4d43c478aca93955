import { listContainers, removeContainer } from './engine/containers.ts';
import type { EngineClient } from './engine/engine-client.ts';
import { EngineUnreachable, explained } from './engine/engine-error.ts';
import { INCARNATION_LABEL } from './engine/labels.ts';

/** Removes containers; remembers those that it could not remove because the engine was away. */
export interface Remover {
  /** By the containers' ids or by their incarnations. Resolves too when the engine is away: then they are owed. */
  remove(names: readonly string[]): Promise<void>;
  /** Before a start: what is owed. */
  settle(): Promise<void>;
}

export function createRemover(engine: EngineClient): Remover {
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
