/** Plain counters while serving; the Prometheus library, which knows the process, is loaded when somebody asks. */
import type { SandboxCounts } from '@tendon/runtime';
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { ServerInfo } from '@tendon/protocol';
import type { LoopWatch } from './loop-watch.ts';
import { Counter, exposition, gauge, Histogram, type Instrument } from './exposition.ts';
import { VERSION } from './version.ts';

/** Figures that other parts count, read on request. */
export interface Gauges {
  readonly openConversations: () => number;
  /** By this process. */
  readonly sandboxes: () => SandboxCounts;
  readonly loop: LoopWatch;
  /** The folder whose disk is reported. */
  readonly home: string;
  /** What the engine counts. */
  readonly measured: () => readonly Instrument[];
}

/** In seconds. */
const REQUEST_BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];
const DELIVERY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export type SocketProtocol = 'socket.io' | 'ws' | 'shell';

export class Metrics {
  readonly #gauges: Gauges;
  readonly #requests = new Counter({ name: 'tendon_http_requests_total', help: 'HTTP requests answered, by status', labels: ['status'] });
  readonly #durations = new Histogram(
    { name: 'tendon_http_request_duration_seconds', help: 'Time to answer an HTTP request' },
    REQUEST_BOUNDS,
  );
  readonly #delivery = new Histogram(
    {
      name: 'tendon_event_delivery_seconds',
      help: 'Time from the timestamp of an event until it is handed to the socket of a client that follows, once for each client',
    },
    DELIVERY_BOUNDS,
  );
  readonly #connections = new Map<SocketProtocol, number>([
    ['socket.io', 0],
    ['ws', 0],
    ['shell', 0],
  ]);
  readonly #instruments: readonly Instrument[];
  #lastSeen: number;
  #process: Promise<ProcessRegistry> | undefined;

  constructor(gauges: Gauges, now: Date) {
    this.#gauges = gauges;
    this.#lastSeen = now.getTime();
    this.#instruments = [this.#requests, this.#durations, this.#delivery, ...this.#read()];
  }

  /** A client did something. */
  seen(now: Date): void {
    this.#lastSeen = now.getTime();
  }

  /** What holds the event loop says where it is. */
  get loop(): LoopWatch {
    return this.#gauges.loop;
  }

  idleSeconds(now: Date): number {
    return Math.max(0, (now.getTime() - this.#lastSeen) / 1000);
  }

  answered(status: number, seconds: number): void {
    this.#requests.add({ status: String(status) });
    this.#durations.observe({}, seconds);
  }

  /** An event of this time was handed to a client. */
  delivered(timestamp: string, now: Date): void {
    this.#delivery.observe({}, Math.max(0, (now.getTime() - Date.parse(timestamp)) / 1000));
  }

  /** A client's socket, until `closed` aborts. */
  connected(protocol: SocketProtocol, closed: AbortSignal): void {
    if (closed.aborted) return;
    const add = (count: number): void => void this.#connections.set(protocol, this.#connections.get(protocol)! + count);
    add(1);
    closed.addEventListener('abort', () => add(-1), { once: true });
  }

  async render(): Promise<{ readonly type: string; readonly text: string }> {
    this.#process ??= processRegistry();
    const [registry, disk] = await Promise.all([this.#process, diskOf(this.#gauges.home)]);
    const instruments = [...this.#instruments, ...diskInstruments(disk), ...this.#gauges.measured()];
    return { type: registry.contentType, text: (await registry.metrics()) + exposition(instruments) };
  }

  #read(): readonly Instrument[] {
    const { sandboxes, loop, openConversations } = this.#gauges;
    return [
      gauge('tendon_build_info', 'Always 1, with the version', () => [{ labels: { version: VERSION }, value: 1 }]),
      gauge('tendon_connections', 'Open sockets of clients', () =>
        [...this.#connections].map(([protocol, value]) => ({ labels: { protocol }, value })),
      ),
      gauge('tendon_open_conversations', 'Conversations in memory', openConversations),
      gauge('tendon_sandboxes_awake', 'Sandboxes that this server holds and that are not suspended', () => sandboxes().running),
      gauge('tendon_sandboxes_asleep', 'Sandboxes that are suspended in their places', () => sandboxes().suspended),
      gauge('tendon_sandboxes_disk_bytes', 'What held sandboxes have added to the disk, as last counted', () => sandboxes().diskBytes),
      gauge('tendon_sandboxes_over_disk', 'Sandboxes that take more of the disk than they may', () => sandboxes().overDisk),
      gauge(
        'tendon_event_loop_longest_block_seconds',
        'The longest time the event loop was blocked, of those above 0.2',
        () => loop.longestSeconds,
      ),
      gauge(
        'tendon_event_loop_blocked_seconds_total',
        'Time the event loop was blocked for more than 0.2 seconds at once, by the task that held it',
        () => [...loop.totals].map(([task, { seconds }]) => ({ labels: { task }, value: seconds })),
        'counter',
      ),
    ];
  }
}

interface ProcessRegistry {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** Memory, processor time, open files, and the delay of the event loop from now on. */
async function processRegistry(): Promise<ProcessRegistry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** In bytes; 0 where it cannot be asked. */
async function diskOf(folder: string): Promise<{ readonly total: number; readonly free: number }> {
  const disk = await statfs(folder).catch(() => undefined);
  return disk ? { total: disk.blocks * disk.bsize, free: disk.bavail * disk.bsize } : { total: 0, free: 0 };
}

function diskInstruments({ total, free }: { readonly total: number; readonly free: number }): readonly Instrument[] {
  return [
    gauge('tendon_disk_size_bytes', 'The disk of TENDON_HOME', () => total),
    gauge('tendon_disk_free_bytes', 'What this server may still write to it', () => free),
  ];
}

/** What this process uses and its disk has left; the disk of `folder`. Bytes, percent 0…100. */
export async function processResources(folder: string): Promise<ServerInfo['resources']> {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  const { total, free } = await diskOf(folder);
  const usage = process.resourceUsage();
  return {
    cpu_percent: ((cpu.user + cpu.system) / 1e6 / process.uptime()) * 100,
    memory: { rss: memory.rss, vms: memory.heapTotal + memory.external, percent: (memory.rss / totalmem()) * 100 },
    disk: { total, used: total - free, free, percent: total ? ((total - free) / total) * 100 : 0 },
    io: { read_bytes: usage.fsRead * 512, write_bytes: usage.fsWrite * 512 },
  };
}
