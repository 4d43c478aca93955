/**
 * Owns three servers of one machine on one Postgres, with executors, behind a balancer, and everything that can happen to them. A server is
 * reached by clients and others, and reaches the database, only through links, which can be cut.
 */
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresCluster } from '@tendon/testing/postgres';
import { TendonProcess } from '@tendon/testing/servers';
import { startModelServer, type ModelServer } from '../../../bench/model-server.ts';
import { Audit } from './audit.ts';
import { Balancer } from './balancer.ts';
import type { Closing } from './chaos-client.ts';
import { Link } from './link.ts';

const NAMES = ['one', 'two', 'three'] as const;
const FROZEN_MS = 30_000;
/** Longer than the lease: others have taken over when it is back. */
const CUT_MS = 12_000;
const DOWN_MS = 1_500;
const STARTS = 5;
const POSTGRES_DOWN_MS = 1_000;

export interface ChaosServer {
  readonly name: string;
  readonly process: TendonProcess;
  readonly front: Link;
  readonly database: Link;
  isUp: boolean;
  isCut: boolean;
}

export class ChaosCluster {
  readonly #postgres: PostgresCluster;
  readonly #model: ModelServer;
  readonly #servers: ChaosServer[] = [];
  #balancer: Balancer | undefined;
  readonly audit: Audit;
  /** Servers that answered the balancer too late though nothing had happened to them. */
  readonly slow: Closing[] = [];
  readonly workspace = mkdtempSync(join(tmpdir(), 'tendon-chaos-'));

  private constructor(postgres: PostgresCluster, model: ModelServer) {
    this.#postgres = postgres;
    this.#model = model;
    this.audit = new Audit(postgres);
  }

  static async start(): Promise<ChaosCluster> {
    const postgres = await PostgresCluster.start();
    await postgres.createDatabase('tendon');
    const cluster = new ChaosCluster(postgres, await startModelServer());
    try {
      for (const name of NAMES) await cluster.#add(name);
      await cluster.audit.begin();
      cluster.#balancer = await Balancer.open(
        cluster.#servers.map(({ front }) => front.port),
        (port) => cluster.#lost(port),
      );
      return cluster;
    } catch (cause) {
      await cluster.remove();
      throw cause;
    }
  }

  /** Where clients come in. */
  get url(): string {
    return this.#balancer!.url;
  }

  get up(): readonly ChaosServer[] {
    return this.#servers.filter(({ isUp }) => isUp);
  }

  /** What all of them printed. */
  get output(): string {
    return this.#servers.map(({ name, process: { output } }) => `--- ${name}\n${output}`).join('\n');
  }

  /** How often servers found that others had taken over. */
  get standDowns(): number {
    return this.output.split('another server has taken over what this one had').length - 1;
  }

  /** Each of these begins at once; the promise says that the server is back. */
  kill(server: ChaosServer): Promise<void> {
    return this.#without(server, async () => {
      await server.process.kill('SIGKILL');
      await sleep(DOWN_MS);
      await startAgain(server);
    });
  }

  freeze(server: ChaosServer): Promise<void> {
    return this.#without(server, async () => {
      const { pid } = server.process;
      process.kill(pid, 'SIGSTOP');
      await sleep(FROZEN_MS);
      process.kill(pid, 'SIGCONT');
    });
  }

  /** From the clients, the other servers and the database, in both directions. Its sandboxes are on its machine. */
  cut(server: ChaosServer): Promise<void> {
    return this.#without(server, async () => {
      this.#setCut(server, true);
      await sleep(CUT_MS);
      this.#setCut(server, false);
    });
  }

  /** As a rolling update does: it hands over, ends, and the next version starts. */
  replace(server: ChaosServer): Promise<void> {
    return this.#without(server, async () => {
      await server.process.kill('SIGTERM');
      await startAgain(server);
    });
  }

  async killPostgres(): Promise<void> {
    await this.#postgres.kill();
    await sleep(POSTGRES_DOWN_MS);
    await this.#postgres.resume();
  }

  async remove(): Promise<void> {
    this.#balancer?.close();
    for (const { process, front, database } of this.#servers) {
      await process.remove();
      for (const link of [front, database]) link.close();
    }
    this.#model.close();
    await this.#postgres.remove();
    rmSync(this.workspace, { recursive: true, force: true });
  }

  async #add(name: string): Promise<void> {
    const isOfOneCut = (port: number): boolean => this.#servers.some(({ isCut, process: { pid } }) => isCut && localPortsOf(pid).has(port));
    const [front, database] = [await Link.open(isOfOneCut), await Link.open()];
    database.target = { path: join(this.#postgres.dir, '.s.PGSQL.5432') };
    const url = `postgres://postgres@127.0.0.1:${database.port}/tendon?sslmode=disable&application_name=${name}`;
    const process = await TendonProcess.sharing(url, {
      TENDON_ADVERTISE_URL: front.url,
      LLM_MODEL: 'openai/bench',
      LLM_API_KEY: 'a-key-for-tests',
      LLM_BASE_URL: this.#model.url,
      WORKSPACE_BASE: this.workspace,
    });
    front.target = { port: Number(new URL(process.url).port), host: '127.0.0.1' };
    this.#servers.push({ name, process, front, database, isUp: true, isCut: false });
  }

  async #without(server: ChaosServer, work: () => Promise<void>): Promise<void> {
    server.isUp = false;
    await work();
    await this.#untilReady(server);
    server.isUp = true;
  }

  #lost(port: number): void {
    const server = this.#servers.find(({ front }) => front.port === port);
    if (server?.isUp) this.slow.push({ at: performance.now(), why: `the balancer lost ${server.name}` });
  }

  #setCut(server: ChaosServer, isCut: boolean): void {
    server.isCut = isCut;
    for (const link of [server.front, server.database]) link.silent = isCut;
    for (const other of this.#servers) if (other !== server) other.front.look();
  }

  /** It has a lease again, and what it stood down from is over. */
  async #untilReady({ process: { url } }: ChaosServer): Promise<void> {
    while (
      !(await fetch(`${url}/ready`, { signal: AbortSignal.timeout(5_000) }).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await sleep(200);
  }
}

/** As what supervises it does: one that loses its database while it starts ends. */
async function startAgain({ process: server }: ChaosServer): Promise<void> {
  for (let triesLeft = STARTS; ; await sleep(DOWN_MS)) {
    try {
      return await server.start();
    } catch (cause) {
      if ((triesLeft -= 1) === 0) throw cause;
    }
  }
}

/** From which a process has connections now. */
function localPortsOf(pid: number): ReadonlySet<number> {
  const inodes = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // Closed meanwhile.
    }
  }
  const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return new Set(fields.filter((row) => inodes.has(row[9]!)).map((row) => Number.parseInt(row[1]!.split(':')[1]!, 16)));
}
