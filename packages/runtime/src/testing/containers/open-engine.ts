import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IMAGES, imageTag, imageTar, type ImageName } from './images.ts';

export type EngineKind = 'docker' | 'podman';

/** A container engine of our own, a child of this process: other engines of the machine see nothing of it. */
export interface TestEngine {
  /** As in `DOCKER_HOST`. */
  readonly host: string;
  /** Its command line client; answers what it prints. */
  command(...args: readonly string[]): string;
  /** Makes the image if need be; answers its name. */
  image(name: ImageName): string;
  /** SIGKILL. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Removes its containers and ends it; images stay for the next time. */
  close(): Promise<void>;
}

/** Images and the engines' storage, reused from run to run. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tendon/containers');
/** The OCI runtime that Docker has anyway, under a name of its own. */
export const OTHER_RUNTIME = 'another';
const START_DEADLINE_MS = 60_000;
const LOCK_DEADLINE_MS = 1_200_000;

/** One of a kind at a time on this machine: a second caller waits. Needs root. */
export async function openEngine(kind: EngineKind): Promise<TestEngine> {
  const place = { data: join(CACHE, kind), run: `/run/tendon-test-${kind}`, socket: `/run/tendon-test-${kind}/engine.sock` };
  mkdirSync(place.data, { recursive: true });
  const unlock = await lock(`${place.data}.lock`);
  // Of an engine that was killed, mounts may be left.
  unmountBelow(place.run);
  mkdirSync(place.run, { recursive: true });
  const { service, client, environment } = LAUNCH[kind](place);
  const env = { ...process.env, ...environment };
  let daemon: ChildProcess | undefined;

  const command = (...args: readonly string[]): string => {
    const [program = '', ...rest] = [...client, ...args];
    return execFileSync(program, rest, { env, encoding: 'utf8', timeout: LOCK_DEADLINE_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  };

  async function start(): Promise<void> {
    rmSync(place.socket, { force: true });
    const log = openSync(join(place.run, 'log'), 'a');
    // Goes with this process, however that ends.
    const [program = '', ...args] = ['setpriv', '--pdeathsig', 'TERM', '--', ...service];
    const child = spawn(program, args, { env, stdio: ['ignore', log, log] });
    closeSync(log);
    daemon = child;
    child.on('error', () => {});
    const end = performance.now() + START_DEADLINE_MS;
    while (!(await answers(place.socket))) {
      if (child.exitCode !== null || performance.now() > end)
        throw new Error(`${kind}: ${readFileSync(join(place.run, 'log'), 'utf8').slice(-2000)}`);
      await delay(50);
    }
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const ended = once(daemon, 'exit');
    daemon.kill(signal);
    await ended;
  }

  try {
    await start();
  } catch (error) {
    await stop('SIGKILL');
    unlock();
    throw error;
  }
  return {
    host: `unix://${place.socket}`,
    command,
    start,
    async kill() {
      await stop('SIGKILL');
      await helperEnded(join(place.run, 'exec/containerd/containerd.pid'));
    },
    image(name) {
      if (command('images', '--quiet', imageTag(name)).trim() === '') {
        const changes = (IMAGES[name].changes ?? []).flatMap((change) => ['--change', change]);
        command('import', ...changes, imageTar(name, CACHE), imageTag(name));
      }
      return imageTag(name);
    },
    async close() {
      const containers = command('ps', '--all', '--quiet').split('\n').filter(Boolean);
      if (containers.length > 0) command('rm', '--force', '--volumes', ...containers);
      await stop('SIGTERM');
      for (const folder of [place.data, place.run]) unmountBelow(folder);
      rmSync(place.run, { recursive: true, force: true });
      unlock();
    },
  };
}

interface Place {
  readonly data: string;
  readonly run: string;
  readonly socket: string;
}

interface Launch {
  readonly service: readonly string[];
  readonly client: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A bridge needs a firewall that a test machine may not have, and no test leaves the machine. */
const LAUNCH: Readonly<Record<EngineKind, (place: Place) => Launch>> = {
  docker: ({ data, run, socket }) => ({
    service: [
      ...['dockerd', '--data-root', data, '--exec-root', join(run, 'exec'), '--pidfile', join(run, 'pid'), '--host', `unix://${socket}`],
      ...['--group', 'root', '--storage-driver', 'overlay2', '--iptables=false', '--bridge=none'],
      ...['--add-runtime', `${OTHER_RUNTIME}=runc`],
    ],
    client: ['docker', '--host', `unix://${socket}`],
    environment: {},
  }),
  podman({ data, run, socket }) {
    // Limits beyond this process's own cannot be given, and crun knows no mixed control groups.
    const config = join(run, 'containers.conf');
    writeFileSync(
      config,
      `[containers]\ndefault_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n`,
    );
    const client = ['podman', '--root', data, '--runroot', join(run, 'storage'), '--storage-driver', 'overlay'];
    return { service: [...client, 'system', 'service', '--time=0', `unix://${socket}`], client, environment: { CONTAINERS_CONF: config } };
  },
};

function answers(socket: string): Promise<boolean> {
  if (!existsSync(socket)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const connection = connect(socket);
    const settle = (answer: boolean): void => {
      connection.destroy();
      resolve(answer);
    };
    connection.once('error', () => settle(false));
    connection.once('connect', () => connection.write('GET /_ping HTTP/1.0\r\n\r\n'));
    connection.once('data', (data) => settle(data.toString().includes('200')));
    connection.setTimeout(5000, () => settle(false));
  });
}

/** What an engine that was killed has left mounted. */
function unmountBelow(folder: string): void {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => `${point}/`.startsWith(`${folder}/`));
  for (const point of points.toReversed()) execFileSync('umount', ['--lazy', point]);
}

/** Docker's own helper dies with it, a moment later; a start in between would take it for a live one. */
async function helperEnded(pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return;
  const pid = readFileSync(pidFile, 'utf8').trim();
  for (const end = performance.now() + START_DEADLINE_MS; existsSync(`/proc/${pid}`) && performance.now() < end;) await delay(20);
  rmSync(pidFile, { force: true });
}

/** Holds a file with this process's id; one of a process that is no more is taken over. */
async function lock(path: string): Promise<() => void> {
  const end = performance.now() + LOCK_DEADLINE_MS;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch {
      const holder = existsSync(path) ? readFileSync(path, 'utf8') : '';
      if (holder !== '' && !existsSync(`/proc/${holder}`)) rmSync(path, { force: true });
      else if (performance.now() > end) throw new Error(`process ${holder} holds ${path}`);
      else await delay(100);
    }
  }
}
