/** Servers that were built here, on one Postgres that waits for its disk. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@tendon/testing';
import { PostgresCluster } from '@tendon/testing/postgres';
import { tendon } from './subjects.ts';
import { start, type RunningTarget, type Target } from './target.ts';

/** Of `/proc/<pid>/stat`, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Until each server has heard of the others. */
const HEARD_MS = 2_500;

export interface BenchServer {
  readonly target: Target;
  readonly running: RunningTarget;
}

export class SeveralServers {
  readonly postgres: PostgresCluster;
  readonly #url: string;
  readonly #home: string;
  readonly servers: BenchServer[] = [];

  private constructor(postgres: PostgresCluster, url: string, home: string) {
    this.postgres = postgres;
    this.#url = url;
    this.#home = home;
  }

  static async start(home: string): Promise<SeveralServers> {
    // Its user reads no folder of ours.
    const postgres = await PostgresCluster.start(undefined, { isDurable: true });
    return new SeveralServers(postgres, await postgres.createDatabase('tendon'), home);
  }

  async add(env: NodeJS.ProcessEnv): Promise<BenchServer> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const place = { PORT: String(port), TENDON_ADVERTISE_URL: url, TENDON_DATABASE_URL: this.#url, JWT_SECRET: 'the same on every server' };
    const target = { ...tendon(this.#home, '').build!.server(join(this.#home, `server-${port}`), { ...place, ...env }), url };
    const server = { target, running: await start(target) };
    this.servers.push(server);
    return server;
  }

  /** Resolves when they know of each other. */
  settled(): Promise<void> {
    return sleep(HEARD_MS);
  }

  /** What the database has committed, and what its processes have used of the processor, in milliseconds. */
  async used(): Promise<{ readonly commits: number; readonly cpuMs: number }> {
    // What each of its sessions has counted is shown a second later.
    await sleep(1_500);
    const commits = await this.postgres.sql('postgres', `SELECT xact_commit FROM pg_stat_database WHERE datname = 'tendon'`);
    const [first = 0, ...connections] = this.#pids();
    const cpuMs = connections.reduce((sum, pid) => sum + cpuMsOf(pid), cpuMsOf(first, { withEnded: true }));
    return { commits: Number(commits), cpuMs };
  }

  /** Of Postgres: the first one, and one for each connection. */
  #pids(): readonly number[] {
    const first = Number(readFileSync(join(this.postgres.dir, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
    const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim();
    return [first, ...children.split(' ').map(Number)];
  }

  async stop(): Promise<void> {
    for (const { running } of this.servers) await running.stop();
    await this.postgres.remove();
  }
}

/** Milliseconds of the processor that the process has used, and with `withEnded` its children that ended; 0 of one that has ended. */
export function cpuMsOf(pid: number, { withEnded = false } = {}): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    const ticks = fields.slice(11, withEnded ? 15 : 13).reduce((sum, field) => sum + Number(field), 0);
    return (ticks * 1000) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
