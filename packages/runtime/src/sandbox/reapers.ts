import type { Asked, Reaper } from '../drivers/driver.ts';
import type { SandboxOwners } from './sandbox-owners.ts';
import { seesProcesses } from './sandbox-places.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** Finds and ends sandboxes whichever driver started them: the one that is configured may have been another one before. */
export interface Reapers {
  isAlive(record: SandboxRecord): boolean;
  /** Resolves when nothing of them runs. Idempotent; the machine is looked through once for all of them. */
  end(records: readonly SandboxRecord[]): Promise<void>;
  /** For those that are known by their names alone, wherever names can be looked for. */
  endIncarnations(incarnations: readonly string[]): Promise<void>;
  strays(stateRoot: string): Promise<readonly string[]>;
}

/** What the configured driver has started is its own; `others` are asked for the rest, and for what is known by its name alone. */
export function createReapers(driver: Reaper, others: readonly Reaper[], owners: Pick<SandboxOwners, 'epochOf'>): Reapers {
  const all = [driver, ...others];
  // A host that is asked for its sandboxes one by one knows nobody's else.
  const here = all.filter(({ remote, strays }) => remote === undefined || strays !== undefined);
  const of = (record: SandboxRecord): readonly Reaper[] =>
    record.driver === driver.name ? [driver] : others.filter(({ name }) => name === record.driver);
  return {
    isAlive: (record) => record.state === 'live' && seesProcesses(record) && of(record).some((reaper) => reaper.isAlive(record.handle)),
    async end(records) {
      for (const reaper of all) {
        const own = records.filter((record) => of(record).includes(reaper));
        const asked = new Map(own.map((record) => [record.incarnation, askedOf(record, owners)]));
        for (const record of own) if (record.state === 'live') await reaper.end(record.handle, asked.get(record.incarnation));
        if (own.length > 0) await reaper.endIncarnations([...asked.keys()], (incarnation) => asked.get(incarnation) ?? {});
      }
    },
    async endIncarnations(incarnations) {
      if (incarnations.length > 0) for (const reaper of here) await reaper.endIncarnations(incarnations);
    },
    async strays(stateRoot) {
      const found = await Promise.all(here.map((reaper) => reaper.strays?.(stateRoot) ?? []));
      return [...new Set(found.flat())];
    },
  };
}

/** What a remote host must know of a request for this sandbox. */
export function askedOf(
  { conversation_id: id, host }: Pick<SandboxRecord, 'conversation_id' | 'host'>,
  owners: Pick<SandboxOwners, 'epochOf'>,
): Asked {
  return { ...(host?.kind === 'address' && { host: host.name }), ownerEpoch: owners.epochOf(id) };
}
