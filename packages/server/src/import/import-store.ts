import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Secret, type Clock } from '@tendon/core';
import type { Config } from '../platform/config/config.ts';
import { keptSecret } from '../platform/auth/kept-secret.ts';
import { workspaceFolder } from '../sandboxes/workspace-folder.ts';
import { workspaceRoots } from '../sandboxes/workspace-roots.ts';
import { useUpstreamProxy } from '../platform/use-upstream-proxy.ts';
import { findSources, type Sources } from './find-sources.ts';
import { importConversation, readConversation } from './import-conversation.ts';
import { importSettings } from './import-settings.ts';

export interface ImportOptions {
  readonly path: string;
  readonly config: Config;
  readonly clock: Clock;
  /** Read everything, write nothing. */
  readonly dryRun: boolean;
  readonly onProblem: (sentence: string) => void;
  readonly onProgress: (id: string, done: number, of: number) => void;
}

export interface ImportSummary {
  readonly conversations: number;
  readonly events: number;
  /** Those that were here before. */
  readonly known: number;
  /** Those that could not be taken at all. */
  readonly failed: number;
  /** What else was taken, in words. */
  readonly taken: readonly string[];
}

/**
 * Moves an OpenHands file store or a trajectory into this home. The originals are only read; a second import adds nothing. Rejects with
 * a user-facing error when nothing is there or another process has the home.
 */
export async function importStore(options: ImportOptions): Promise<ImportSummary> {
  const sources = await findSources(options.path);
  for (const problem of sources.problems) options.onProblem(problem);
  return options.dryRun ? tryOut(sources, options) : moveOver(sources, options);
}

async function moveOver(sources: Sources, { config, clock, onProblem, onProgress }: ImportOptions): Promise<ImportSummary> {
  const { openSqliteStorage } = await import('@tendon/core/storage');
  const storage = await openSqliteStorage({ path: join(config.home, 'tendon.db'), blobDir: join(config.home, 'blobs'), clock });
  const leaveProxy = config.upstreamProxy ? useUpstreamProxy(config.upstreamProxy) : () => undefined;
  try {
    const jwtSecret = config.jwtSecret ?? (await keptSecret(join(config.home, 'jwt-secret')));
    const roots = await workspaceRoots(config);
    const workspaceOf = async (id: string): Promise<string> => {
      const folder = await workspaceFolder(roots, id, undefined);
      if (!folder.ok) throw new Error(folder.error.message);
      return folder.path;
    };
    const parts = { storage, now: () => clock.now(), workspaceOf, onProblem, onProgress };
    const counts = await counted(sources, onProblem, (source) => importConversation(source, parts));
    const taken: string[] = [];
    for (const root of sources.roots)
      taken.push(...(await importSettings(root, { records: storage.records, jwtSecret, asksProviders: true, onProblem })));
    return { ...counts, taken };
  } finally {
    leaveProxy();
    await storage.close();
  }
}

/** Everything is read as it would be; what is in this home already is not looked at. */
async function tryOut(sources: Sources, { clock, onProblem }: ImportOptions): Promise<ImportSummary> {
  const { createMemoryStorage } = await import('@tendon/core/storage');
  const counts = await counted(sources, onProblem, async (source) => {
    const { length, event } = (await readConversation(source, onProblem)).recorded;
    for (let id = 0; id < length; id++) await event(id, onProblem);
    return length;
  });
  const taken: string[] = [];
  const { records } = createMemoryStorage({ clock });
  const parts = { records, jwtSecret: new Secret(randomUUID()), asksProviders: false, onProblem };
  for (const root of sources.roots) taken.push(...(await importSettings(root, parts)));
  return { ...counts, taken };
}

async function counted(
  { conversations, problems }: Sources,
  onProblem: (sentence: string) => void,
  take: (source: Sources['conversations'][number]) => Promise<number | undefined>,
): Promise<Omit<ImportSummary, 'taken'>> {
  const counts = { conversations: 0, events: 0, known: 0, failed: problems.length };
  for (const source of conversations) {
    try {
      const events = await take(source);
      if (events === undefined) counts.known++;
      else {
        counts.conversations++;
        counts.events += events;
      }
    } catch (cause) {
      if ((cause as Error).name === 'StorageError') throw cause;
      counts.failed++;
      onProblem(`${source.path}: ${(cause as Error).message}`);
    }
  }
  return counts;
}
