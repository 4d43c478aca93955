/** For tests: a database of the run's Postgres, emptied for each test. */
import { sharedPostgres, type PostgresCluster } from '@tendon/testing/postgres';
import { manualClock } from '../contract/manual-clock.ts';
import type { Storage } from '../storage.ts';
import { openPostgresStorage, type PostgresStorageOptions } from './open-postgres-storage.ts';

const TABLES = ['servers', 'logs', 'events', 'epochs', 'payloads', 'snapshots', 'records', 'search_pages'];

export class TemporaryDatabase {
  readonly cluster: PostgresCluster;
  readonly name: string;
  readonly #opened: Storage[] = [];

  private constructor(cluster: PostgresCluster, name: string) {
    this.cluster = cluster;
    this.name = name;
  }

  static async create(cluster?: PostgresCluster): Promise<TemporaryDatabase> {
    const owner = cluster ?? (await sharedPostgres());
    const name = `t${process.pid}_${performance.now().toFixed(0)}`;
    await owner.createDatabase(name);
    return new TemporaryDatabase(owner, name);
  }

  get url(): string {
    return this.cluster.url(this.name);
  }

  async open(options: Partial<PostgresStorageOptions> = {}): Promise<Storage> {
    const storage = await openPostgresStorage({ url: this.url, clock: manualClock(), ...options });
    this.#opened.push(storage);
    return storage;
  }

  sql(text: string): Promise<string> {
    return this.cluster.sql(this.name, text);
  }

  async close(): Promise<void> {
    for (const storage of this.#opened.splice(0)) await storage.close();
  }

  /** Closes what is open and removes what was stored. */
  async empty(): Promise<void> {
    await this.close();
    // A few rows go faster one by one than their files are made anew.
    await this.sql(TABLES.map((table) => `DELETE FROM tendon.${table}`).join('; '));
  }
}
