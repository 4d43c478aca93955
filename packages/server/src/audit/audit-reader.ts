import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordStore, Storage } from '@tendon/core';
import type { AuditHead, AuditPage } from '@tendon/protocol';
import { storedSecret } from '../platform/auth/stored-secret.ts';
import type { Config } from '../platform/config/config.ts';
import { openStorage } from '../platform/open-storage.ts';
import { askForBody, findServer, type FoundServer } from '../platform/server-address.ts';
import { systemClock } from '../platform/system-clock.ts';
import { storedEntries, storedHead } from './audit-chain.ts';
import { sealKey } from './sealed-entry.ts';
import { verifyAudit, type AuditVerdict, type VerifyOptions } from './verify-audit.ts';

/** The audit log of a home, for commands. What fails is an Error whose message can be shown. */
export interface AuditReader extends AsyncDisposable {
  /** Oldest first, whatever was done to them. */
  entries(): AsyncIterable<unknown>;
  /** `heads`: where it is known to have been, beside the head that is stored with it. */
  verify(heads?: VerifyOptions['heads']): Promise<AuditVerdict & { readonly areSealsChecked: boolean }>;
}

const DEADLINE_MS = 30_000;
const PAGE = 1000;

interface AuditSource extends AsyncDisposable {
  entries(): AsyncIterable<unknown>;
  head(): Promise<AuditHead | undefined>;
}

/** From the database itself, where it is Postgres; else through the server that has the home, or over its store when none runs. */
export async function openAuditReader(config: Config): Promise<AuditReader> {
  const server = config.databaseUrl ? undefined : await findServer(config);
  const key = await keyOf(config);
  const source = server ? throughServer(server) : overRecords(await openReadable(config));
  return {
    entries: () => source.entries(),
    async verify(heads = []) {
      const stored = await source.head();
      const verdict = await verifyAudit(source.entries(), { key, heads: [...heads, ...(stored ? [stored] : [])] });
      return { ...verdict, areSealsChecked: key !== undefined };
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** `undefined`: this machine does not have the secret, so only hashes can be checked. */
async function keyOf({ jwtSecret, home }: Config): Promise<Buffer | undefined> {
  const file = join(home, 'jwt-secret');
  const secret = jwtSecret ?? (existsSync(file) ? await storedSecret(file) : undefined);
  return secret && sealKey(secret);
}

/** Servers over the same database go on meanwhile. */
async function openReadable(config: Config): Promise<Storage> {
  if (!config.databaseUrl) return openStorage(config, { clock: systemClock });
  const { openPostgresStorage } = await import('@tendon/core/postgres');
  return openPostgresStorage({ url: config.databaseUrl.reveal(), clock: systemClock, beside: true });
}

function overRecords({ records, close }: Pick<Storage, 'close'> & { readonly records: RecordStore }): AuditSource {
  return { entries: () => storedEntries(records), head: () => storedHead(records), [Symbol.asyncDispose]: close };
}

function throughServer(server: FoundServer): AuditSource {
  const page = async (query: string): Promise<AuditPage> =>
    (await askForBody(server, 'GET', `/api/audit?${query}`, { deadlineMs: DEADLINE_MS })) as AuditPage;
  return {
    async *entries() {
      const newest = (await page('limit=1')).entries[0]?.sequence ?? 0;
      for (let from = 0; from <= newest; from += PAGE) {
        const { entries } = await page(`limit=${PAGE}&before=${from + PAGE}`);
        yield* entries.filter(({ sequence }) => sequence >= from).toReversed();
      }
    },
    head: async () => (await page('limit=1')).head ?? undefined,
    [Symbol.asyncDispose]: async () => {},
  };
}
