import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@tendon/core';
import type { Config } from '../platform/config/config.ts';
import { openStorage } from '../platform/open-storage.ts';
import { trajectoryText } from './trajectory-text.ts';
import { findServer, type FoundServer } from '../platform/server-address.ts';

export interface SaveTrajectoryOptions {
  readonly id: string;
  readonly config: Config;
  readonly clock: Clock;
  /** The file to write. */
  readonly to: string;
  readonly signal: AbortSignal;
}

/**
 * The trajectory of a conversation as one JSON file: through the server that runs on this home, else from its store. Rejects with a
 * user-facing error.
 */
export async function saveTrajectory(options: SaveTrajectoryOptions): Promise<void> {
  const server = await findServer(options.config);
  return server ? fromServer(server, options) : fromStore(options);
}

async function fromServer({ url, headers }: FoundServer, { id, to, signal }: SaveTrajectoryOptions): Promise<void> {
  const response = await fetch(`${url}/api/conversations/${encodeURIComponent(id)}/trajectory`, { headers, signal }).catch(
    (cause: unknown) => {
      throw new Error(`The server at ${url} does not answer.`, { cause });
    },
  );
  if (response.status === 401) throw new Error(`The server at ${url} wants a key: set SESSION_API_KEY.`);
  if (response.status === 404) throw new Error(`There is no conversation ${id}.`);
  if (!response.ok || !response.body) throw new Error(`The server at ${url} answered ${response.status}.`);
  await pipeline(response.body, createWriteStream(to, { mode: 0o600 }), { signal });
}

async function fromStore({ id, config, clock, to, signal }: SaveTrajectoryOptions): Promise<void> {
  const isThere = config.databaseUrl ?? (await stat(join(config.home, 'tendon.db')).catch(() => undefined));
  if (!isThere) throw new Error(`${id} is no file, and ${config.home} holds no conversations.`);
  const storage = await openStorage(config, { clock });
  try {
    if (!(await storage.records.get('conversations', id))) throw new Error(`${id} is neither a file nor a conversation of ${config.home}.`);
    const log = await storage.events.open(id);
    await pipeline(Readable.from(trajectoryText(log)), createWriteStream(to, { mode: 0o600 }), { signal });
  } finally {
    await storage.close();
  }
}
