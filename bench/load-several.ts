#!/usr/bin/env node
// Puts idle and running conversations on several servers over one Postgres, each with a client at another server, and prints what the
// servers and the database take: the figures of docs/capacity.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Socket } from 'socket.io-client';
import { at } from './at.ts';
import { membersOf, pssMiB } from './process-memory.ts';
import { cpuMsOf, SeveralServers } from './several-servers.ts';
import { connect, type V0Event } from './v0-client.ts';

const HELP = `node --conditions=tendon-source bench/load-several.ts [options]
  --servers N   servers on one Postgres (10)
  --idle N      conversations that a client looks at and in which nothing happens (5000)
  --running N   conversations whose scripted agent thinks, with one client each (500)
  --pace N      seconds of a thought (10)
  --seconds N   for how long they run (60)
`;
const { values: options } = parseArgs({
  options: {
    servers: { type: 'string', default: '10' },
    idle: { type: 'string', default: '5000' },
    running: { type: 'string', default: '500' },
    pace: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
});
const count = (name: 'servers' | 'idle' | 'running' | 'pace' | 'seconds'): number => Number(options[name]);

/** Conversations that are made at the same time. */
const AT_ONCE = 8;
/** What was opened is written, and what was only needed for that is collected. */
const SETTLED_MS = 10_000;
/** Between two reports of how far it is. */
const SHOWN_EVERY = 1_000;

interface Client {
  readonly socket: Socket;
  /** Filled while it is measured. */
  late: number[] | undefined;
}

async function made(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/conversations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  if (!answer.ok) throw new Error(`POST /api/conversations: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { conversation_id: string }).conversation_id;
}

/** Its conversation is at one server, and the client comes to the next: a load balancer knows no better. */
async function opened(urls: readonly string[], index: number): Promise<Client> {
  const id = await made(urls[index % urls.length]!);
  const client: { socket?: Socket; late: number[] | undefined } = { late: undefined };
  await new Promise<void>((resolve, reject) => {
    const take = ({ timestamp = '', extras }: V0Event): void => {
      if (extras?.agent_state === 'awaiting_user_input') resolve();
      client.late?.push(Date.now() - Date.parse(`${timestamp.replace('Z', '')}Z`));
    };
    client.socket = connect(urls[(index + 1) % urls.length]!, id, -1, take);
    client.socket.once('connect_error', reject).once('disconnect', (why) => reject(new Error(`a client was disconnected: ${why}`)));
  });
  return client as Client;
}

async function openMany(urls: readonly string[], many: number): Promise<readonly Client[]> {
  const clients: Client[] = [];
  const next = async (): Promise<void> => {
    while (clients.length < many) {
      const index = clients.push({} as Client) - 1;
      clients[index] = await opened(urls, index);
      if ((index + 1) % SHOWN_EVERY === 0) process.stderr.write(`${index + 1} conversations\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return clients;
}

/** What everything takes in this time, and how much of the processor; a share is of one core. */
async function over(servers: SeveralServers, ms: number, work: () => Promise<unknown>) {
  const pids = servers.servers.map(({ running }) => running.pid);
  const cpuOfServers = (): number => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const [before, cpuBefore, began] = [await servers.used(), cpuOfServers(), performance.now()];
  await Promise.all([work(), sleep(ms)]);
  const [cpuAfter, took] = [cpuOfServers(), performance.now() - began];
  const after = await servers.used();
  return {
    commits: (after.commits - before.commits) / (took / 1000),
    database: (after.cpuMs - before.cpuMs) / took,
    servers: (cpuAfter - cpuBefore) / took,
  };
}

const memoryOf = ({ servers }: SeveralServers): number => servers.reduce((sum, { running }) => sum + pssMiB(membersOf(running.pid)), 0);

/** Not all in the same tick: people are not. */
async function begin(clients: readonly Client[], paceMs: number): Promise<void> {
  for (const { socket } of clients) {
    socket.emit('oh_user_action', { action: 'message', args: { content: 'Think.', image_urls: [], file_urls: [] } });
    await sleep(paceMs / clients.length);
  }
}

async function measure(servers: SeveralServers): Promise<readonly string[]> {
  const urls = servers.servers.map(({ target }) => target.url);
  await servers.settled();
  const empty = memoryOf(servers);
  const nothing = await over(servers, 20_000, async () => undefined);
  const began = performance.now();
  await openMany(urls, count('idle'));
  const seconds = (performance.now() - began) / 1000;
  await sleep(SETTLED_MS);
  const [withIdle, idle] = [memoryOf(servers), await over(servers, 30_000, async () => undefined)];
  const working = await openMany(urls, count('running'));
  const late: number[] = [];
  await begin(working, count('pace') * 1000);
  for (const client of working) client.late = late;
  const running = await over(servers, count('seconds') * 1000, async () => undefined);
  for (const client of working) client.late = undefined;
  const withRunning = memoryOf(servers);
  const share = (part: number): string => `${(part * 100).toFixed(1)} %`;
  const use = (part: typeof idle): string =>
    `database ${share(part.database)} of a core, ${part.commits.toFixed(0)} transactions/s; servers ${share(part.servers)} of a core`;
  return [
    `${urls.length} servers without conversations: ${empty.toFixed(0)} MiB, ${use(nothing)}`,
    `${count('idle')} idle with a client at another server: made in ${seconds.toFixed(0)} s, ${((withIdle - empty) / count('idle')).toFixed(3)} MiB each, ${use(idle)}`,
    `${count('running')} running, a thought in ${count('pace')} s: ${((withRunning - withIdle) / count('running')).toFixed(2)} MiB each, ${use(running)}`,
    `events at clients: ${(late.length / count('seconds')).toFixed(0)}/s; event → client, ms, median ${at(late, 0.5)}, 99th percentile ${at(late, 0.99)}`,
  ];
}

async function load(home: string): Promise<readonly string[]> {
  const script = join(home, 'thoughts.json');
  const times = Math.ceil((count('seconds') * 3) / count('pace')) + 10;
  const thought = { toolCalls: [{ name: 'think', arguments: { thought: 'thought {i}' } }], times, delayMs: count('pace') * 1000 };
  writeFileSync(script, JSON.stringify([thought, { text: 'Done.' }]));
  const servers = await SeveralServers.start(home);
  try {
    while (servers.servers.length < count('servers')) await servers.add({ RUNTIME: 'none', LLM_MODEL: `scripted/${script}` });
    return await measure(servers);
  } finally {
    await servers.stop();
  }
}

if (options.help) process.stdout.write(HELP);
else {
  const home = mkdtempSync(join(tmpdir(), 'tendon-load-'));
  const before = loadavg()[0]!.toFixed(1);
  try {
    const rows = await load(home);
    const machine = `${cpus().length} cores, load before ${before}, Node ${process.versions.node}`;
    process.stdout.write(`${machine}\n${rows.join('\n')}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  // The clients' sockets are open still.
  process.exit();
}
