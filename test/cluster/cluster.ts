/** Several real servers on one real Postgres. */
import { PostgresCluster } from '@tendon/testing/postgres';
import { TendonProcess } from '@tendon/testing/servers';

/** The model of servers without sandboxes. */
export const SCRIPT = { answers: Array.from({ length: 20 }, () => ({ text: 'It is done.' })) };

export class Cluster {
  readonly #postgres: PostgresCluster;
  readonly #url: string;
  readonly servers: TendonProcess[] = [];

  private constructor(postgres: PostgresCluster, url: string) {
    this.#postgres = postgres;
    this.#url = url;
  }

  static async start(): Promise<Cluster> {
    const postgres = await PostgresCluster.start();
    return new Cluster(postgres, await postgres.createDatabase('tendon'));
  }

  /** With `script` it has no sandboxes. */
  async add(env: NodeJS.ProcessEnv = {}, script?: unknown): Promise<TendonProcess> {
    const server = await TendonProcess.sharing(this.#url, env, script);
    this.servers.push(server);
    return server;
  }

  gateway(env: NodeJS.ProcessEnv = {}, script?: unknown): Promise<TendonProcess> {
    return this.add({ ...env, TENDON_ROLE: 'gateway' }, script);
  }

  /** How many conversations each server has, by its address. */
  async owned(): Promise<Readonly<Record<string, number>>> {
    const sql = 'SELECT s.url, count(*) FROM tendon.logs AS l JOIN tendon.servers AS s ON s.id = l.owner GROUP BY s.url';
    const rows = (await this.sql(sql)).split('\n').filter((line) => line !== '');
    return Object.fromEntries(rows.map((row) => [row.split('|')[0], Number(row.split('|')[1])]));
  }

  /** What the statement prints, one row a line. */
  sql(text: string): Promise<string> {
    return this.#postgres.sql('tendon', text);
  }

  /** All that the database has, as `pg_dump` writes it. */
  dump(): Promise<string> {
    return this.#postgres.dump('tendon');
  }

  async remove(): Promise<void> {
    for (const server of this.servers.splice(0)) await server.remove();
    await this.#postgres.remove();
  }
}
