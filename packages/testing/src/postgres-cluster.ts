/** A real Postgres for tests: a cluster in a folder of its own, reached through a Unix socket in it, that a crash of the machine may ruin. */
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Set for a run of the tests: where the cluster of that run is, once somebody needs it. */
const SHARED = 'TENDON_TEST_POSTGRES';
const EVERYWHERE = ['listen_addresses=', 'log_min_messages=fatal'];
/** A test loses nothing with its machine. */
const OF_TESTS = [
  ...['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'shared_buffers=16MB', 'max_connections=100', 'max_worker_processes=0'],
];
/** As Postgres is shipped, for many servers. */
const DURABLE = ['shared_buffers=256MB', 'max_connections=300'];
const START_MS = 60_000;
const MAX_DUMP = 256 * 1024 * 1024;

export class PostgresCluster {
  readonly dir: string;
  readonly #isDurable: boolean;

  constructor(dir: string, { isDurable = false } = {}) {
    this.dir = dir;
    this.#isDurable = isDurable;
  }

  /** Makes the folder, which must not exist, and starts a server in it. `isDurable`: it waits for the disk, as it does for users. */
  static async start(
    dir = join(tmpdir(), `tendon-postgres-${process.pid}-${performance.now().toFixed(0)}`),
    options: { readonly isDurable?: boolean } = {},
  ): Promise<PostgresCluster> {
    mkdirSync(dir, { mode: 0o755 });
    const cluster = new PostgresCluster(dir, options);
    if (isRoot()) {
      const { stdout } = await promisify(execFile)('id', ['-u', 'postgres']);
      await chown(dir, Number(stdout), -1);
    }
    await runAsOwner('initdb', ['-D', cluster.#data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
    await cluster.resume();
    return cluster;
  }

  get #data(): string {
    return join(this.dir, 'data');
  }

  /** Its Postgres again, after `kill`. */
  async resume(): Promise<void> {
    const own = this.#isDurable ? DURABLE : OF_TESTS;
    const settings = [...EVERYWHERE, ...own, `unix_socket_directories=${this.dir}`].map((setting) => `-c ${setting}`).join(' ');
    await runAsOwner('pg_ctl', ['start', '-w', '-s', '-D', this.#data, '-o', settings, '-l', join(this.dir, 'log')]);
  }

  /** Without any of what a shutdown does. */
  async kill(): Promise<void> {
    await runAsOwner('pg_ctl', ['stop', '-w', '-s', '-m', 'immediate', '-D', this.#data]);
  }

  /** Ends it and removes its folder. */
  async remove(): Promise<void> {
    if (existsSync(join(this.#data, 'postmaster.pid'))) await this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }

  url(database: string): string {
    return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(this.dir)}`;
  }

  /** Runs SQL in a database; resolves with what it prints, one row a line. */
  async sql(database: string, text: string): Promise<string> {
    const { stdout } = await promisify(execFile)('psql', ['-qXAt', '-v', 'ON_ERROR_STOP=1', '-c', text, this.url(database)], {
      env: environment(),
    });
    return stdout.trim();
  }

  /** Everything of a database, as text. */
  async dump(database: string): Promise<string> {
    const { stdout } = await promisify(execFile)('pg_dump', [this.url(database)], { env: environment(), maxBuffer: MAX_DUMP });
    return stdout;
  }

  /** An empty database; resolves with its address. */
  async createDatabase(name: string): Promise<string> {
    await this.sql('postgres', `CREATE DATABASE ${name}`);
    return this.url(name);
  }
}

/** The cluster of this run of the tests: the first test that needs it starts it. */
export async function sharedPostgres(): Promise<PostgresCluster> {
  const dir = process.env[SHARED];
  if (!dir) throw new Error(`${SHARED} is not set: run the tests with vitest's configuration`);
  const ready = `${dir}.ready`;
  try {
    mkdirSync(`${dir}.starting`);
  } catch {
    for (const end = performance.now() + START_MS; !existsSync(ready); await setTimeout(50))
      if (performance.now() > end) throw new Error(`another test did not start Postgres in ${dir}`);
    return new PostgresCluster(dir);
  }
  const cluster = await PostgresCluster.start(dir);
  writeFileSync(ready, '');
  return cluster;
}

/** Names the cluster of a run, which nobody has started yet; the returned function ends it. */
export function nameSharedPostgres(): () => Promise<void> {
  if (process.env[SHARED]) return async () => undefined;
  const dir = join(tmpdir(), `tendon-postgres-${process.pid}`);
  process.env[SHARED] = dir;
  return async () => {
    for (const mark of [`${dir}.starting`, `${dir}.ready`]) rmSync(mark, { recursive: true, force: true });
    if (existsSync(dir)) await new PostgresCluster(dir).remove();
  };
}

function isRoot(): boolean {
  return userInfo().uid === 0;
}

/** Debian has the server's programs in a folder of their version, outside of PATH. */
function environment(): NodeJS.ProcessEnv {
  const folders = globSync('/usr/lib/postgresql/*/bin').toSorted();
  return { ...process.env, LC_ALL: 'C.UTF-8', PATH: [...folders.slice(-1), process.env.PATH].join(delimiter) };
}

/** Postgres does not run as root. */
async function runAsOwner(program: string, args: readonly string[]): Promise<void> {
  const env = environment();
  const [file, ...all] = isRoot() ? ['runuser', '-u', 'postgres', '--', 'env', `PATH=${env.PATH}`, program, ...args] : [program, ...args];
  await promisify(execFile)(file!, all, { env, cwd: '/' });
}
