/**
 * Owns the named secrets of one owner: one record for each (`secrets/<name>` for the server's), its value sealed like the model's key.
 * `OwnedSecrets` has a store for each owner.
 *
 * SS1  A value leaves this store only as `Secret`, to be masked and injected; no answer contains one.
 * SS2  Changes are serialized, also between servers: of two that create the same name, one is refused.
 */
import { type RecordStore } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';
import { MIN_SECRET_LENGTH, Secret } from '@tendon/protocol/masking';
import { catalogError, type CatalogError, type CreateSecret, type SecretList, type UpdateSecret } from '@tendon/protocol';
import { seal, unseal } from '../platform/auth/stored-secret.ts';

export interface StoredSecret {
  readonly name: string;
  readonly description: string | null;
  readonly sealed: string;
  /** Missing when the secret may go anywhere. */
  readonly hosts?: readonly string[];
}

const MAX_SECRETS = 500;

/** Where the records of one owner are. */
interface SecretPlace {
  readonly collection: string;
  /** Precedes the name in the id of a record. */
  readonly prefix: string;
}

export interface SecretStoreOptions {
  readonly records: RecordStore;
  readonly jwtSecret: Secret;
  /** Called in the tick of each change. */
  readonly onChange: () => void;
}

const SERVERS: SecretPlace = { collection: 'secrets', prefix: '' };

/** The secrets of one conversation, read-only. */
export type SecretView = Pick<SecretStore, 'values' | 'hostsOf' | 'list'>;

export class SecretStore {
  readonly #options: SecretStoreOptions;
  readonly #place: SecretPlace;
  readonly #stored = new Map<string, StoredSecret>();
  #values: ReadonlyMap<string, Secret> | undefined;
  readonly #writing: Mutex;

  /** Empty, until `hold`. Stores with the same mutex change one after the other. */
  constructor(options: SecretStoreOptions, place: SecretPlace, writing: Mutex) {
    this.#options = options;
    this.#place = place;
    this.#writing = writing;
  }

  /** Opens the store of the server's own secrets. */
  static async open(records: RecordStore, jwtSecret: Secret, onChange = (): void => undefined): Promise<SecretStore> {
    const writing = new Mutex();
    const store = new SecretStore({ records, jwtSecret, onChange }, SERVERS, writing);
    const read = (): Promise<void> =>
      writing.run(async () => store.hold((await records.list<StoredSecret>(SERVERS.collection)).map(({ value }) => value)));
    records.watch(SERVERS.collection, read);
    await read();
    return store;
  }

  /** Replaces the contents with what was just read from the storage. The caller holds the mutex. */
  hold(stored: readonly StoredSecret[]): void {
    this.#stored.clear();
    for (const value of stored) this.#stored.set(value.name, value);
    this.#values = undefined;
    this.#options.onChange();
  }

  get list(): SecretList {
    const names = [...this.#stored.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return { custom_secrets: names.map(({ name, description, hosts }) => ({ name, description, ...(hosts && { hosts: [...hosts] }) })) };
  }

  /** The hosts that the secret may go to; empty when it may go anywhere. */
  hostsOf(name: string): readonly string[] {
    return this.#stored.get(name)?.hosts ?? [];
  }

  /** By name, without secrets that were sealed under another JWT secret. */
  get values(): ReadonlyMap<string, Secret> {
    this.#values ??= this.#unsealed();
    return this.#values;
  }

  #unsealed(): ReadonlyMap<string, Secret> {
    const readable = [...this.#stored.values()].flatMap(({ name, sealed }) => {
      const text = unseal(sealed, this.#options.jwtSecret);
      return text ? [[name, new Secret(text)] as const] : [];
    });
    return new Map(readable);
  }

  /** Resolves when the secret is durable, or with the reason why it was refused. */
  create({ name, value, description, hosts }: CreateSecret): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      if (this.#stored.size >= MAX_SECRETS) return refused(`There are ${MAX_SECRETS} secrets already`);
      // White space does not count: hiding it would hide every indentation.
      if (value.trim().length < MIN_SECRET_LENGTH) {
        return refused(`Secret ${name} needs at least ${MIN_SECRET_LENGTH} characters: shorter ones cannot be hidden in logs`);
      }
      return this.#add({ name, description: description ?? null, sealed: seal(value, this.#options.jwtSecret), ...bound(hosts) });
    });
  }

  /** Changes the name, description or hosts; what is not given stays, and so does the value. */
  update(id: string, { name, description, hosts }: UpdateSecret): Promise<CatalogError | undefined> {
    const changed = (now: StoredSecret): StoredSecret => {
      const { hosts: _before, ...rest } = now;
      return { ...(hosts === undefined ? now : { ...rest, ...bound(hosts) }), name, ...(description !== undefined && { description }) };
    };
    return this.#writing.run(async () => {
      if (name !== id) return this.#rename(id, name, changed);
      const { collection, prefix } = this.#place;
      const change = (now?: StoredSecret) => now && { sort: name, value: changed(now) };
      const stored = await this.#options.records.update<StoredSecret>(collection, prefix + id, change);
      this.#setStored(id, stored);
      return stored ? undefined : unknown(id);
    });
  }

  delete(id: string): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => ((await this.#remove(id)) ? undefined : unknown(id)));
  }

  /** Removes every secret of this owner. */
  clear(): Promise<void> {
    return this.#writing.run(async () => {
      for (const name of [...this.#stored.keys()]) await this.#remove(name);
    });
  }

  async #rename(id: string, name: string, changed: (now: StoredSecret) => StoredSecret): Promise<CatalogError | undefined> {
    const { collection, prefix } = this.#place;
    const { records } = this.#options;
    const ids = { from: prefix + id, to: prefix + name };
    const renaming = await records.rename<StoredSecret>(collection, ids, (now) => ({ sort: name, value: changed(now) }));
    // A name that is taken may be new to this server.
    if (renaming !== 'missing') this.#setStored(name, await records.get<StoredSecret>(collection, ids.to));
    if (renaming !== 'taken') this.#setStored(id, undefined);
    if (renaming === 'renamed') return undefined;
    return renaming === 'taken' ? exists(name) : unknown(id);
  }

  /** Refuses a name that exists by now, also when another server has just created it. */
  async #add(secret: StoredSecret): Promise<CatalogError | undefined> {
    const { collection, prefix } = this.#place;
    const { name } = secret;
    let isTaken = false;
    const stored = await this.#options.records.update<StoredSecret>(collection, prefix + name, (now) => {
      isTaken = now !== undefined;
      return isTaken ? undefined : { sort: name, value: secret };
    });
    this.#setStored(name, stored);
    return isTaken ? exists(name) : undefined;
  }

  /** False when there is no such secret. */
  async #remove(name: string): Promise<boolean> {
    const { collection, prefix } = this.#place;
    const wasThere = await this.#options.records.delete(collection, prefix + name);
    this.#setStored(name, undefined);
    return wasThere;
  }

  /** Takes over what is stored now. */
  #setStored(name: string, stored: StoredSecret | undefined): void {
    if (stored) this.#stored.set(name, stored);
    else this.#stored.delete(name);
    this.#values = undefined;
    this.#options.onChange();
  }
}

function bound(hosts: readonly string[] | null | undefined): Pick<StoredSecret, 'hosts'> {
  return hosts && hosts.length > 0 ? { hosts: [...new Set(hosts)] } : {};
}

function refused(message: string): CatalogError {
  return { ...catalogError('INVALID_ARGUMENTS'), message };
}

function exists(name: string): CatalogError {
  return refused(`Secret ${name} already exists`);
}

function unknown(id: string): CatalogError {
  return { ...catalogError('NOT_FOUND'), message: `Secret with ID ${id.slice(0, 200)} not found` };
}
