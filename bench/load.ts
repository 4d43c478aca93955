#!/usr/bin/env node
// Measures many conversations on one server: how late events come, what an idle conversation holds, and whether a long stream swells.
//   node --conditions=tendon-source bench/load.ts [--conversations 200] [--idle 400] [--events 100000]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MessageAction } from '@tendon/protocol';
import { openSqliteStorage } from '@tendon/core/storage';
import { membersOf, pssMiB } from './process-memory.ts';
import { start, type RunningTarget } from './target.ts';
import { connect, create, until, type V0Conversation, type V0Event } from './v0-client.ts';

const { values: options } = parseArgs({
  options: {
    conversations: { type: 'string', default: '200' },
    idle: { type: 'string', default: '400' },
    events: { type: 'string', default: '100000' },
  },
});

/** Each agent thinks once a second: two events, each for two clients. */
const THINK_MS = 1_000;
const THOUGHTS = 30;
/** A room that nobody looks at is closed after half a minute. */
const CLOSED_AFTER_MS = 50_000;
const main = fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url));

interface Stamped extends V0Event {
  readonly timestamp?: string;
}

const row = (name: string, value: string): void => void process.stdout.write(`| ${name} | ${value} |\n`);
const at = (values: readonly number[], share: number): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
const isState = (state: string) => (event: V0Event) => event.extras?.agent_state === state;

function think({ socket }: V0Conversation): void {
  socket.emit('oh_user_action', { action: 'message', args: { content: 'Think.', image_urls: [], file_urls: [] } });
}

/** From the timestamp, which is before the event is durable, to the client, which is another process of the same machine. */
async function measureDelivery(base: string, count: number): Promise<void> {
  const late: number[] = [];
  const note = ({ timestamp }: Stamped): void => void (timestamp && late.push(Date.now() - Date.parse(`${timestamp.replace('Z', '')}Z`)));
  const all: V0Conversation[] = [];
  for (let index = 0; index < count; index++) {
    const conversation = await create(base);
    conversation.socket.on('oh_event', note);
    connect(base, conversation.id, 1_000_000, note);
    all.push(conversation);
  }
  late.length = 0;
  // Not all in the same tick: people are not.
  for (const conversation of all) {
    think(conversation);
    await sleep(THINK_MS / count);
  }
  await Promise.all(all.map((conversation) => until(conversation, 0, isState('finished'))));
  const name = `${count} conversations × 2 clients: event → client, ms (median / p99 of ${late.length})`;
  row(name, `${at(late, 0.5)} / ${at(late, 0.99)}`);
  for (const { socket } of all) socket.close();
}

/** Opened, looked at and left: what stays while clients look, and after they have gone. */
async function measureIdle(server: BenchServer, count: number): Promise<void> {
  await create(server.url); // what is loaded by the first one is not what each costs
  const before = server.memory();
  const all: V0Conversation[] = [];
  for (let index = 0; index < count; index++) all.push(await create(server.url));
  row('memory per idle conversation with a client, without sandbox, PSS MiB', ((server.memory() - before) / count).toFixed(3));
  for (const { socket } of all) socket.close();
  await sleep(CLOSED_AFTER_MS);
  row('memory per conversation that was left, PSS MiB', ((server.memory() - before) / count).toFixed(3));
}

/** A log that is longer than any memory should hold, to one client that keeps nothing. */
async function measureStream(server: BenchServer, events: number): Promise<void> {
  const { id, socket } = await create(server.url);
  socket.close();
  await server.stop();
  await fillLog(server.home, id, events);
  await server.start();
  const before = server.memory();
  let most = before;
  let seen = 0;
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const watching = connect(server.url, id, -1, (event) => {
      if (++seen % 2_000 === 0) most = Math.max(most, server.memory());
      if (Number(event.id) < events - 1) return;
      watching.close();
      resolve();
    });
  });
  const perSecond = Math.round((seen * 1000) / (performance.now() - started));
  row(`${events} events to one client: events a second`, String(perSecond));
  row('  growth of the server at its most, PSS MiB', (most - before).toFixed(1));
}

async function fillLog(home: string, id: string, events: number): Promise<void> {
  const clock = { now: () => new Date(), sleep: () => Promise.resolve() };
  const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock });
  const log = await storage.events.open(id);
  while (log.nextId < events) {
    const left = Math.min(1_000, events - log.nextId);
    const drafts = Array.from({ length: left }, (_, index) => ({
      ...MessageAction.create({ content: `${log.nextId + index} ${'x'.repeat(400)}` }),
      source: 'agent' as const,
    }));
    await log.append(drafts, { expectedId: log.nextId });
  }
  await storage.close();
}

interface BenchServer {
  readonly url: string;
  readonly home: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  memory(): number;
}

function benchServer(home: string): BenchServer {
  const port = 32_000 + (process.pid % 1000);
  const env = { PORT: String(port), TENDON_HOME: home, RUNTIME: 'none', LLM_MODEL: `scripted/${join(home, 'script.json')}` };
  let running: RunningTarget | undefined;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    home,
    start: async () => {
      running = await start({ name: 'Tendon', url, command: `${process.execPath} ${main} serve`, env, home });
    },
    stop: async () => running?.stop(),
    memory: () => pssMiB([running?.pid ?? 0]),
  };
}

const home = mkdtempSync(join(tmpdir(), 'tendon-bench-load-'));
const server = benchServer(home);
const thoughts = { toolCalls: [{ name: 'think', arguments: { thought: 'thought {i}' } }], times: THOUGHTS, delayMs: THINK_MS };
writeFileSync(join(home, 'script.json'), JSON.stringify([thoughts, { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] }]));
try {
  await server.start();
  await measureIdle(server, Number(options.idle));
  await measureDelivery(server.url, Number(options.conversations));
  await measureStream(server, Number(options.events));
} finally {
  await server.stop();
  // Executors outlive their server.
  for (const pid of membersOf(-1, home)) if (pid > 0) process.kill(pid, 'SIGKILL');
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);
