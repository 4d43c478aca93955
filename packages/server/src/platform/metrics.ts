/** Plain counters while serving; the Prometheus library is loaded when somebody asks. */
import type { SandboxCounts } from '@tendon/runtime';
import type { Registry } from 'prom-client';
import type { LoopWatch } from './loop-watch.ts';
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { ServerInfo } from '@tendon/protocol';

/** Figures that other parts count, read on request. */
export interface Gauges {
  readonly openConversations: () => number;
  /** By this process. */
  readonly sandboxes: () => SandboxCounts;
  readonly loop: LoopWatch;
}

/** Upper bounds of request times, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];

export class Metrics {
  readonly #gauges: Gauges;
  readonly #requests = new Map<number, number>();
  readonly #durations = { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
  #connections = 0;
  #lastSeen: number;
  #registry: Promise<Registry> | undefined;

  constructor(gauges: Gauges, now: Date) {
    this.#gauges = gauges;
    this.#lastSeen = now.getTime();
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
    this.#requests.set(status, (this.#requests.get(status) ?? 0) + 1);
    this.#durations.sum += seconds;
    this.#durations.count += 1;
    BUCKETS.forEach((bound, index) => {
      if (seconds <= bound) this.#durations.counts[index]! += 1;
    });
  }

  /** A client's socket, until `closed` aborts. */
  connected(closed: AbortSignal): void {
    if (closed.aborted) return;
    this.#connections += 1;
    closed.addEventListener('abort', () => (this.#connections -= 1), { once: true });
  }

  async render(): Promise<{ readonly type: string; readonly text: string }> {
    this.#registry ??= this.#makeRegistry();
    const registry = await this.#registry;
    return { type: registry.contentType, text: (await registry.metrics()) + this.#histogram() };
  }

  async #makeRegistry(): Promise<Registry> {
    const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client');
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    const registers = [registry];
    const requests = this.#requests;
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    gauge('tendon_connections', 'Open sockets of clients', () => this.#connections);
    gauge('tendon_open_conversations', 'Conversations in memory', this.#gauges.openConversations);
    const { sandboxes } = this.#gauges;
    gauge('tendon_sandboxes_awake', 'Sandboxes that this server holds and that are not suspended', () => sandboxes().running);
    gauge('tendon_sandboxes_asleep', 'Sandboxes that are suspended in their places', () => sandboxes().suspended);
    gauge('tendon_sandboxes_disk_bytes', 'What held sandboxes have added to the disk, as last counted', () => sandboxes().diskBytes);
    gauge('tendon_sandboxes_over_disk', 'Sandboxes that take more of the disk than they may', () => sandboxes().overDisk);
    const { loop } = this.#gauges;
    gauge(
      'tendon_event_loop_longest_block_seconds',
      'The longest time the event loop was blocked, of those above 0.2',
      () => loop.longestSeconds,
    );
    new Gauge({
      name: 'tendon_event_loop_blocked_seconds_total',
      help: 'Time the event loop was blocked for more than 0.2 seconds at once, by the task that held it',
      labelNames: ['task'],
      registers,
      collect() {
        for (const [task, { seconds }] of loop.totals) this.set({ task }, seconds);
      },
    });
    new Gauge({
      name: 'tendon_http_requests_total',
      help: 'HTTP requests answered, by status',
      labelNames: ['status'],
      registers,
      collect() {
        for (const [status, count] of requests) this.set({ status }, count);
      },
    });
    return registry;
  }

  #histogram(): string {
    const { counts, sum, count } = this.#durations;
    const name = 'tendon_http_request_duration_seconds';
    const buckets = BUCKETS.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index]}`);
    return [
      `# HELP ${name} Time to answer an HTTP request`,
      `# TYPE ${name} histogram`,
      ...buckets,
      `${name}_bucket{le="+Inf"} ${count}`,
      `${name}_sum ${sum}`,
      `${name}_count ${count}`,
      '',
    ].join('\n');
  }
}

/** What this process uses and its disk has left; the disk of `folder`. Bytes, percent 0…100. */
export async function processResources(folder: string): Promise<ServerInfo['resources']> {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  const disk = await statfs(folder).catch(() => undefined);
  const total = disk ? disk.blocks * disk.bsize : 0;
  const free = disk ? disk.bavail * disk.bsize : 0;
  const usage = process.resourceUsage();
  return {
    cpu_percent: ((cpu.user + cpu.system) / 1e6 / process.uptime()) * 100,
    memory: { rss: memory.rss, vms: memory.heapTotal + memory.external, percent: (memory.rss / totalmem()) * 100 },
    disk: { total, used: total - free, free, percent: total ? ((total - free) / total) * 100 : 0 },
    io: { read_bytes: usage.fsRead * 512, write_bytes: usage.fsWrite * 512 },
  };
}
