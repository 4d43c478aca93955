import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createHash, randomBytes } from 'node:crypto';
import type { SandboxDriver } from '../drivers/driver.ts';
import { pidSpace } from '../processes/process-identity.ts';
import { planFolders, ROOT_ID, type FolderPlan } from './sandbox-folders.ts';
import type { SandboxHost, SandboxRecord } from './sandbox-record.ts';

/** Where sandboxes are, and which of those in the records can be reached from here. */
export interface SandboxPlaces {
  /** Those of this server. */
  readonly own: FolderPlan;
  /** Of this server's folder on this machine, and hardly any other. */
  readonly tag: string;
  /** Whether what the record names can be looked at, attached to and ended from here; a host that is away for now counts as reached. */
  reaches(record: Pick<SandboxRecord, 'driver' | 'host'>): boolean;
  /** Where the record's sandbox keeps its things: here, or where another server of this machine has begun it. */
  foldersOf(record: Pick<SandboxRecord, 'host'> | undefined): FolderPlan;
  /** What a record says of a sandbox that starts on this machine, in these folders. */
  hostOf(folders: FolderPlan): SandboxHost & { readonly kind: 'machine' };
}

/**
 * A machine has no name that is its own for sure: a container's may be any, and several have the same `/etc/machine-id`. What counts is
 * whether the folder of the sandboxes is here, so each such folder is named by the file `id` in it. Records without a host are of a version before this, and of this machine.
 */
export function sandboxPlaces(stateRoot: string, driver: Pick<SandboxDriver, 'name' | 'remote'>): SandboxPlaces {
  const own = planFolders(stateRoot);
  const plans = new Map<string, FolderPlan>([[stateRoot, own]]);
  const planOf = (root: string): FolderPlan => {
    const plan = plans.get(root) ?? planFolders(root);
    plans.set(root, plan);
    return plan;
  };

  function isHere({ name, root, root_id: id }: SandboxHost & { readonly kind: 'machine' }): boolean {
    // Somebody may have removed the folder: what was in it is lost, and in no other place.
    if (root === stateRoot && name === hostname()) return true;
    return idOf(root) === id && isUsable(root);
  }

  return {
    own,
    tag: createHash('sha256').update(`${hostname()}\0${stateRoot}`).digest('hex').slice(0, 16),
    reaches({ driver: by, host }) {
      if (host === undefined) return true;
      if (host.kind === 'machine') return isHere(host);
      return by !== driver.name || driver.remote?.knows === undefined || driver.remote.knows(host.name);
    },
    foldersOf: (record) => (record?.host?.kind === 'machine' && isHere(record.host) ? planOf(record.host.root) : own),
    hostOf: ({ stateRoot: root }) => ({ kind: 'machine', name: hostname(), pids: pidSpace(), root, root_id: idOf(root) ?? named(root) }),
  };
}

/** Whether processes that a record names can be seen from here: a pid of another boot or namespace is another process. */
export function seesProcesses({ host }: Pick<SandboxRecord, 'host'>): boolean {
  return host?.kind !== 'machine' || host.pids === pidSpace();
}

function idOf(root: string): string | undefined {
  try {
    return readFileSync(join(root, ROOT_ID), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function named(root: string): string {
  const id = randomBytes(16).toString('hex');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  writeFileSync(join(root, ROOT_ID), id, { mode: 0o600 });
  return id;
}

/** Another user's server may have it. */
function isUsable(root: string): boolean {
  try {
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
