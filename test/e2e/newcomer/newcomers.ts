import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type HostAccount, TendonProcess } from '@tendon/testing/servers';

export interface Newcomer {
  readonly name: string;
  readonly account: HostAccount;
}

const OWN = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const ORDINARY = { name: 'an ordinary user', account: { uid: 12_345, gid: 12_345 } };

/** Root and an ordinary user where this process may be both, else the user that it is. */
export const NEWCOMERS: readonly Newcomer[] =
  OWN.uid === 0 ? [{ name: 'root', account: OWN }, ORDINARY] : [{ name: 'an ordinary user', account: OWN }];

/** An empty folder that belongs to them, removed after the test. */
export function folderOf({ account }: Newcomer, name = 'tendon-newcomer-'): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), name)));
  chownSync(path, account.uid, account.gid);
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

/** A server of theirs from source, removed after the test with everything that it started. `script`: what its model says. */
export async function serverOf({ account }: Newcomer, env: NodeJS.ProcessEnv, script?: unknown): Promise<TendonProcess> {
  const tendon = await TendonProcess.startAs(account, env, script);
  onTestFinished(() => tendon.remove());
  return tendon;
}
