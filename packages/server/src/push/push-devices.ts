/**
 * Owns the devices that are sent pushes: one record for each, named by its address at the push service. Does not own what is sent.
 *
 * PD1  A device is whose it was given to last: who signs in on it after somebody else takes it over, and that person's pushes end there.
 * PD2  It ends with the key that it was given with, and with its user. What has ended is never sent anything, and removed when it is met;
 *      not at once, because other servers hear of a new key a moment later, nor where the server's own key is another one here.
 * PD3  The address, which is enough to disturb a device, and its keys are sealed, and shown to nobody.
 */
import { createHash } from 'node:crypto';
import type { Clock, RecordStore } from '@tendon/core';
import type { AddPushDevice, PushDevice } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';
import type { Caller } from '../platform/auth/caller.ts';
import { fingerprintOf } from '../platform/auth/identify.ts';
import { seal, unseal } from '../platform/auth/stored-secret.ts';
import type { TokenStores } from '../platform/auth/token-stores.ts';
import type { DeviceKeys } from './push-encryption.ts';

const COLLECTION = 'push_devices';
/** Of one user, or of one key. */
const MAX_EACH = 20;
/** Of all keys of a server without users. */
const MAX_SHARED = 500;
/** As long as another server may not have heard of a key. */
const NEW_MS = 60_000;
/** Comes after every id. */
const AFTER_IDS = 'g';
/** Whose the devices of a server without users are. */
const NOBODY = '';

interface StoredDevice {
  readonly device: string;
  readonly created_at: string;
  /** A user's id, or `NOBODY`. */
  readonly owner: string;
  /** The id of the key that it was given with, if it was one of ours. */
  readonly key?: string;
  /** Of the server's own key, for a device of nobody's that was not given with one of ours. */
  readonly fingerprint?: string;
  /** `PushTarget` as JSON. */
  readonly sealed: string;
}

interface PushTarget {
  readonly endpoint: string;
  readonly keys: DeviceKeys;
  /** The address of this server as the device knows it. */
  readonly origin: string;
}

/** One that can be sent something. */
export interface ReachedDevice extends PushTarget {
  readonly id: string;
  /** It is sent only what happens later. */
  readonly since: string;
}

interface PushDevicesOptions {
  readonly records: RecordStore;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
  readonly access: Pick<TokenStores, 'keys' | 'users'>;
  readonly sessionApiKey: Secret | undefined;
}

export class PushDevices {
  readonly #options: PushDevicesOptions;

  constructor(options: PushDevicesOptions) {
    this.#options = options;
  }

  /** With one more than they may have, the oldest of this user or key ends. `undefined`: there are as many as there may be of all. */
  async add(by: Caller, { endpoint, keys, device }: AddPushDevice, origin: string): Promise<PushDevice | undefined> {
    const { records, jwtSecret, clock } = this.#options;
    const given = this.#givenBy(by);
    const id = createHash('sha256').update(endpoint).digest('hex').slice(0, 32);
    const others = (await this.#of(given.owner)).filter((one) => one.id !== id);
    const isTheirs = ({ key, fingerprint }: StoredDevice): boolean => key === given.key && fingerprint === given.fingerprint;
    const theirs = others.filter(({ value }) => given.owner !== NOBODY || isTheirs(value));
    if (theirs.length >= MAX_EACH) await this.remove(oldestOf(theirs).id);
    else if (others.length >= MAX_SHARED) return undefined;
    const target: PushTarget = { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, origin };
    const sealed = seal(JSON.stringify(target), jwtSecret);
    const stored = await records.update<StoredDevice>(COLLECTION, id, (now) => {
      const created_at = now?.owner === given.owner ? now.created_at : clock.now().toISOString();
      return { sort: given.owner, value: { device, created_at, ...given, sealed } };
    });
    return infoOf({ id, value: stored! });
  }

  /** Those that the caller gave; of a server without users, those of all keys for who administers it. Newest first. */
  async list(by: Caller): Promise<readonly PushDevice[]> {
    const given = this.#givenBy(by);
    const isSeen = ({ key, fingerprint }: StoredDevice): boolean =>
      by.userId !== undefined || by.scope === 'admin' || (key === given.key && fingerprint === given.fingerprint);
    const seen = (await this.#of(given.owner)).filter(({ value }) => isSeen(value)).map(infoOf);
    return seen.toSorted((a, b) => (a.created_at > b.created_at ? -1 : 1));
  }

  /** Of this user; `undefined`: of a server without users, or of what belongs to no user. */
  async reached(userId: string | undefined): Promise<readonly ReachedDevice[]> {
    const found = await this.#of(this.#options.access.users ? (userId ?? NOBODY) : NOBODY);
    return found.map(({ id, value, target }) => ({ id, since: value.created_at, ...target }));
  }

  /** False: there is none. */
  remove(id: string): Promise<boolean> {
    return this.#options.records.delete(COLLECTION, id);
  }

  /** With the user. */
  async removeAllOf(userId: string): Promise<void> {
    for (const { id } of await this.#of(userId)) await this.remove(id);
  }

  #givenBy({ userId, key }: Caller): Pick<StoredDevice, 'owner' | 'key' | 'fingerprint'> {
    const { access, sessionApiKey } = this.#options;
    const isOfServer = key === undefined && (userId === undefined || !access.users) && sessionApiKey !== undefined;
    return {
      owner: (access.users && userId) ?? NOBODY,
      ...(key !== undefined && { key }),
      ...(isOfServer && { fingerprint: fingerprintOf(sessionApiKey) }),
    };
  }

  /** Without those that have ended. */
  async #of(owner: string) {
    const { records, jwtSecret } = this.#options;
    // Sorted by their owners, so that a server with thousands reads only these; some may have ended.
    const limit = owner === NOBODY ? MAX_SHARED : 2 * MAX_EACH;
    const stored = await records.list<StoredDevice>(COLLECTION, { before: { sort: owner, id: AFTER_IDS }, limit });
    const found: { readonly id: string; readonly value: StoredDevice; readonly target: PushTarget }[] = [];
    for (const { id, value } of stored) {
      if (value.owner !== owner) break;
      const text = this.#isOpen(value) ? unseal(value.sealed, jwtSecret) : undefined;
      if (text !== undefined) found.push({ id, value, target: JSON.parse(text) as PushTarget });
      else if (value.fingerprint === undefined && !this.#isNew(value)) await this.remove(id);
    }
    return found;
  }

  #isNew({ created_at }: StoredDevice): boolean {
    return this.#options.clock.now().getTime() - Date.parse(created_at) < NEW_MS;
  }

  #isOpen({ owner, key, fingerprint }: StoredDevice): boolean {
    const { access, sessionApiKey } = this.#options;
    if (key !== undefined) return access.keys.get(key) !== undefined;
    return owner !== NOBODY || fingerprint === (sessionApiKey && fingerprintOf(sessionApiKey));
  }
}

function infoOf({ id, value: { device, created_at } }: { readonly id: string; readonly value: StoredDevice }): PushDevice {
  return { id, device, created_at };
}

function oldestOf<T extends { readonly value: StoredDevice }>(devices: readonly T[]): T {
  return devices.toSorted((a, b) => (a.value.created_at < b.value.created_at ? -1 : 1))[0]!;
}
