/** What the host of a test has to lose: files, a process, services, sockets, shared memory. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { networkInterfaces, homedir, hostname, tmpdir } from 'node:os';
import { getServers } from 'node:dns';
import { isIPv4, type AddressInfo, type ListenOptions } from 'node:net';
import { join } from 'node:path';

export interface Bait {
  /** In every secret place; a program that prints it has been there. */
  readonly word: string;
  readonly home: string;
  /** What the probes may know, without the word. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** How the host looks; the same before and after, unless something got out. */
  look(): unknown;
  close(): void;
}

const ANSWER = 'the host answers';

export async function layBait(): Promise<Bait> {
  const word = `word-${randomBytes(8).toString('hex')}`;
  const mark = `escape-${randomBytes(6).toString('hex')}`;
  const home = mkdtempSync(join(tmpdir(), 'tendon-escape-'));
  const path = (name: string): string => join(home, name);
  mkdirSync(path('workspaces'));
  for (const name of ['secret', 'canary', 'tendon.db']) writeFileSync(path(name), word);
  writeFileSync(`/dev/shm/${mark}`, word);
  process.env.ESCAPE_BAIT = word;

  const answer = (listen: ListenOptions) => {
    const server = createServer((_request, response) => response.end(`${ANSWER}: ${word}`));
    return once(server.listen(listen), 'listening').then(() => server);
  };
  const service = await answer({ host: '::', port: 0 });
  const servers = [service, await answer({ path: path('socket') }), await answer({ path: `\0${mark}` })];
  const victim = spawn('/bin/sh', ['-c', 'read forever', mark], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const memory = /(\d+)\s*$/.exec(execFileSync('ipcmk', ['--shmem', '4096'], { encoding: 'utf8' }))?.[1] ?? '';
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

  return {
    word,
    home,
    facts: {
      ...{ home, mark, answer: ANSWER, variable: 'ESCAPE_BAIT', userHome: homedir(), hostname: hostname() },
      ...{ secret: path('secret'), canary: path('canary'), socket: path('socket'), abstract: mark },
      ...{ pid: victim.pid, port: (service.address() as AddressInfo).port, shmKey: keyOf(memory) },
      addresses: addresses.filter((address) => isIPv4(address) && address !== '127.0.0.1'),
      resolvers: getServers().filter((address) => isIPv4(address)),
    },
    look: () => ({
      files: ['secret', 'canary', 'tendon.db'].map((name) => readFileSync(path(name), 'utf8')),
      isVictimAlive: victim.exitCode === null && victim.signalCode === null,
      corePattern: readFileSync('/proc/sys/kernel/core_pattern', 'utf8'),
      name: hostname(),
    }),
    close() {
      for (const server of servers) server.close();
      victim.kill('SIGKILL');
      execFileSync('ipcrm', ['--shmem-id', memory]);
      for (const left of [home, `/dev/shm/${mark}`]) rmSync(left, { recursive: true, force: true });
      delete process.env.ESCAPE_BAIT;
    },
  };
}

function keyOf(id: string): number {
  const lines = readFileSync('/proc/sysvipc/shm', 'utf8').split('\n');
  return Number(lines.map((line) => line.trim().split(/\s+/)).find((fields) => fields[1] === id)?.[0]);
}
