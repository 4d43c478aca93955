#!/usr/bin/env node
// Puts idle and running conversations on one server that was built here, and prints what each costs: the inputs of docs/capacity.md.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { at } from './at.ts';
import { membersOf, pssMiB } from './process-memory.ts';
import { tendon } from './subjects.ts';
import { start, type RunningTarget, type Target } from './target.ts';
import { create, until, type V0Conversation, type V0Event } from './v0-client.ts';

const HELP = `node --conditions=tendon-source bench/load.ts [options]
  --idle N      conversations that a client looks at and in which nothing happens (200)
  --running N   conversations whose scripted agent thinks once a second, with one client each (50)
  --seconds N   for how long they run (30)
  --json        prints the figures as JSON
`;
const { values: options } = parseArgs({
  options: {
    idle: { type: 'string', default: '200' },
    running: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const THINK_MS = 1000;
/** What the first conversation loads is not what each costs. */
const SETTLED_MS = 2000;
/** Of `/proc/<pid>/stat`, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Milliseconds of the processor that the process has used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Bytes of the database, with what is not yet moved into it. */
function databaseBytes(home: string): number {
  return ['tendon.db', 'tendon.db-wal'].reduce((sum, name) => sum + (statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** The sum over all series of a figure. */
async function figure(base: string, name: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

interface Load {
  readonly idle: number;
  readonly running: number;
  readonly seconds: number;
}

/** What a server has used so far. */
async function used({ pid }: RunningTarget, { url, home }: Target) {
  const appends = {
    seconds: await figure(url, 'tendon_log_append_seconds_sum'),
    count: await figure(url, 'tendon_log_append_seconds_count'),
  };
  return { cpuMs: cpuMs(pid), bytes: databaseBytes(home!), events: await figure(url, 'tendon_events_appended_total'), appends };
}

async function openMany(url: string, count: number): Promise<readonly V0Conversation[]> {
  const all: V0Conversation[] = [];
  for (let index = 0; index < count; index++) all.push(await create(url));
  return all;
}

/** Not all in the same tick: people are not. Resolves when each was sent its task. */
async function begin(conversations: readonly V0Conversation[]): Promise<void> {
  for (const { socket } of conversations) {
    socket.emit('oh_user_action', { action: 'message', args: { content: 'Think.', image_urls: [], file_urls: [] } });
    await sleep(THINK_MS / conversations.length);
  }
}

/** Milliseconds from the timestamp of each event until a client has it, filled from now on. */
function lateness(conversations: readonly V0Conversation[]): readonly number[] {
  const late: number[] = [];
  const note = ({ timestamp = '' }: V0Event): void => void late.push(Date.now() - Date.parse(`${timestamp.replace('Z', '')}Z`));
  for (const { socket } of conversations) socket.on('oh_event', note);
  return late;
}

async function measure(server: RunningTarget, target: Target, { idle, running, seconds }: Load) {
  const memory = (): number => pssMiB(membersOf(server.pid, target.home));
  await openMany(target.url, 1);
  await used(server, target);
  await sleep(SETTLED_MS);
  const empty = memory();
  await openMany(target.url, idle);
  await sleep(SETTLED_MS);
  const withIdle = memory();
  const working = await openMany(target.url, running);
  const late = lateness(working);
  const before = await used(server, target);
  await begin(working);
  await sleep((seconds * THINK_MS) / 2);
  const withRunning = memory();
  await Promise.all(working.map((one) => until(one, 0, ({ extras }) => extras?.agent_state === 'finished')));
  const after = await used(server, target);
  const [events, cpu] = [after.events - before.events, after.cpuMs - before.cpuMs];
  const appendSeconds = (after.appends.seconds - before.appends.seconds) / (after.appends.count - before.appends.count);
  return {
    'server without conversations, MiB': empty,
    'idle conversation with a client, MiB': (withIdle - empty) / idle,
    'running conversation with a client, MiB': (withRunning - withIdle) / running,
    'event → client, ms, median': at(late, 0.5),
    'event → client, ms, 99th percentile': at(late, 0.99),
    'append until durable, ms, mean': appendSeconds * 1000,
    'database for an event, KB': (after.bytes - before.bytes) / events / 1000,
    'events in a second': events / seconds,
    'processor for an event, ms': cpu / events,
    'processor for a running conversation, share of a core': cpu / (seconds * 1000) / running,
  };
}

async function load(home: string, given: Load): Promise<Readonly<Record<string, number>>> {
  const script = join(home, 'thoughts.json');
  const thoughts = { toolCalls: [{ name: 'think', arguments: { thought: 'thought {i}' } }], times: given.seconds, delayMs: THINK_MS };
  writeFileSync(script, JSON.stringify([thoughts, { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] }]));
  const target = tendon(home, '').build!.server(join(home, 'load'), { RUNTIME: 'none', LLM_MODEL: `scripted/${script}` });
  const server = await start(target);
  try {
    return await measure(server, target, given);
  } finally {
    await server.stop();
  }
}

if (options.help) process.stdout.write(HELP);
else {
  const given = { idle: Number(options.idle), running: Number(options.running), seconds: Number(options.seconds) };
  const home = mkdtempSync(join(tmpdir(), 'tendon-load-'));
  try {
    const figures = await load(home, given);
    const rows = Object.entries(figures).map(([name, value]) => `${value.toPrecision(3).padStart(10)}  ${name}`);
    const machine = `${cpus().length} cores, Node ${process.versions.node}`;
    const text = `${given.idle} idle and ${given.running} running conversations for ${given.seconds} s, ${machine}\n${rows.join('\n')}\n`;
    process.stdout.write(options.json ? `${JSON.stringify(figures, null, 2)}\n` : text);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  // The clients' sockets are open still.
  process.exit();
}
