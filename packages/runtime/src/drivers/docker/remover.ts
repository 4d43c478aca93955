import { listContainers, removeContainer } from './engine/containers.ts';
import type { EngineClient } from './engine/engine-client.ts';
import { EngineUnreachable, explained } from './engine/engine-error.ts';
import { INCARNATION_LABEL } from './engine/labels.ts';

/** Removes containers; remembers those that it could not remove because the engine was away. */
export interface Remover {
  /** By the container's id or by its incarnation. Resolves too when the engine is away: then it is owed. */
  remove(wanted: { readonly container: string } | { readonly incarnation: string }): Promise<void>;
  /** Before a start: what is owed. */
  settle(): Promise<void>;
}

export function createRemover(engine: EngineClient): Remover {
  const owed = new Set<string>();

  async function removeNow(name: string): Promise<void> {
    const all = await listContainers(engine);
    const meant = all.filter(({ Id, Labels }) => Id === name || Labels[INCARNATION_LABEL] === name);
    for (const { Id } of meant) await removeContainer(engine, Id);
    owed.delete(name);
  }

  return {
    async remove(wanted) {
      const name = 'container' in wanted ? wanted.container : wanted.incarnation;
      try {
        await removeNow(name);
      } catch (error) {
        if (!(error instanceof EngineUnreachable)) throw explained(error);
        owed.add(name);
      }
    },
    async settle() {
      for (const name of owed) await removeNow(name);
    },
  };
}
