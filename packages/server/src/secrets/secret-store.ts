/**
 * Owns the secrets that the user named for agents: one record each, `secrets/<name>`, the value sealed like the model's key.
 *
 * K1  A value leaves only as `Secret`, to be masked and injected; no answer holds one.
 * K2  Changes come one after the other: of two that make the same name one is refused.
 */
import { type RecordStore } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';
import { MIN_SECRET_LENGTH, Secret } from '@tendon/protocol/masking';
import { catalogError, type CatalogError, type CreateSecret, type SecretList, type UpdateSecret } from '@tendon/protocol';
import { seal, unseal } from '../platform/auth/stored-secret.ts';

interface StoredSecret {
  readonly name: string;
  readonly description: string | null;
  readonly sealed: string;
  /** Missing for one that may go anywhere. */
  readonly hosts?: readonly string[];
}

const MAX_SECRETS = 500;

export class SecretStore {
  readonly #records: RecordStore;
  readonly #jwtSecret: Secret;
  readonly #onChange: () => void;
  readonly #stored: Map<string, StoredSecret>;
  #values: ReadonlyMap<string, Secret> | undefined;
  readonly #writing = new Mutex();

  private constructor(records: RecordStore, jwtSecret: Secret, stored: Map<string, StoredSecret>, onChange: () => void) {
    this.#records = records;
    this.#jwtSecret = jwtSecret;
    this.#stored = stored;
    this.#onChange = onChange;
  }

  /** `onChange`: called in the tick of each change. */
  static async open(records: RecordStore, jwtSecret: Secret, onChange = (): void => undefined): Promise<SecretStore> {
    const store = new SecretStore(records, jwtSecret, new Map(), onChange);
    records.watch('secrets', () => void store.#read().catch(() => undefined));
    await store.#read();
    return store;
  }

  /** As stored now: other servers change them too. */
  #read(): Promise<void> {
    return this.#writing.run(async () => {
      const stored = await this.#records.list<StoredSecret>('secrets');
      this.#stored.clear();
      for (const { id, value } of stored) this.#stored.set(id, value);
      this.#values = undefined;
      this.#onChange();
    });
  }

  get list(): SecretList {
    const names = [...this.#stored.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return { custom_secrets: names.map(({ name, description, hosts }) => ({ name, description, ...(hosts && { hosts: [...hosts] }) })) };
  }

  /** Where the secret may go; none: anywhere. */
  hostsOf(name: string): readonly string[] {
    return this.#stored.get(name)?.hosts ?? [];
  }

  /** By name; without those that were sealed under a JWT secret that is gone. */
  get values(): ReadonlyMap<string, Secret> {
    this.#values ??= this.#unsealed();
    return this.#values;
  }

  #unsealed(): ReadonlyMap<string, Secret> {
    const readable = [...this.#stored.values()].flatMap(({ name, sealed }) => {
      const text = unseal(sealed, this.#jwtSecret);
      return text ? [[name, new Secret(text)] as const] : [];
    });
    return new Map(readable);
  }

  /** The reason why it was refused, or `undefined` when it is durable. */
  create({ name, value, description, hosts }: CreateSecret): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      if (this.#stored.has(name)) return refused(`Secret ${name} already exists`);
      if (this.#stored.size >= MAX_SECRETS) return refused(`There are ${MAX_SECRETS} secrets already`);
      // White space alone would be hidden wherever a text is indented.
      if (value.trim().length < MIN_SECRET_LENGTH) {
        return refused(`Secret ${name} needs at least ${MIN_SECRET_LENGTH} characters: shorter ones cannot be hidden in logs`);
      }
      await this.#put({ name, description: description ?? null, sealed: seal(value, this.#jwtSecret), ...bound(hosts) });
      return undefined;
    });
  }

  /** Another name, description or hosts; the value stays, and of these what is not given. */
  update(id: string, { name, description, hosts }: UpdateSecret): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      const stored = this.#stored.get(id);
      if (!stored) return unknown(id);
      if (name !== id && this.#stored.has(name)) return refused(`Secret ${name} already exists`);
      const { hosts: _before, ...rest } = stored;
      const changed = hosts === undefined ? stored : { ...rest, ...bound(hosts) };
      await this.#put({ ...changed, name, ...(description !== undefined && { description }) });
      if (name !== id) await this.#remove(id);
      return undefined;
    });
  }

  delete(id: string): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      if (!this.#stored.has(id)) return unknown(id);
      await this.#remove(id);
      return undefined;
    });
  }

  async #put(secret: StoredSecret): Promise<void> {
    await this.#records.put('secrets', { id: secret.name, sort: secret.name, value: secret });
    this.#stored.set(secret.name, secret);
    this.#values = undefined;
    this.#onChange();
  }

  async #remove(name: string): Promise<void> {
    await this.#records.delete('secrets', name);
    this.#stored.delete(name);
    this.#values = undefined;
    this.#onChange();
  }
}

function bound(hosts: readonly string[] | null | undefined): Pick<StoredSecret, 'hosts'> {
  return hosts && hosts.length > 0 ? { hosts: [...new Set(hosts)] } : {};
}

function refused(message: string): CatalogError {
  return { ...catalogError('INVALID_ARGUMENTS'), message };
}

function unknown(id: string): CatalogError {
  return { ...catalogError('NOT_FOUND'), message: `Secret with ID ${id.slice(0, 200)} not found` };
}
