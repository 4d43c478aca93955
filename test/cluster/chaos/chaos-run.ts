/**
 * Owns one run: conversations that are always at work on a cluster, and what happens to its servers, one thing after the other, while those
 * that were struck before are still down.
 *
 * CR1  At least one server is left.
 * CR2  The next thing happens when every conversation that the last one struck has gone on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Standing } from './audit.ts';
import { ChaosCluster, type ChaosServer } from './chaos-cluster.ts';
import { CLIENTS, type Closing } from './chaos-client.ts';
import { ChaosTask } from './chaos-task.ts';
import type { FaultKind, Tally } from './tally.ts';

const LOOK_MS = 200;
/** Longer than anybody would wait. */
const RESUME_MS = 90_000;
/** How long a server is waited for that has a command running. */
const CHOOSE_MS = 10_000;
const PAUSE_MS = 500;
/** By then everybody has noticed what happened. */
const NOTICED_MS = 10_000;

export interface ChaosOptions {
  /** Of each kind. */
  readonly times: number;
  /** At least. */
  readonly minutes: number;
  readonly conversations: number;
  /** What happens. */
  readonly kinds: readonly FaultKind[];
  /** Commands of an agent in each of its two parts. */
  readonly steps: number;
}

export class ChaosRun {
  readonly #cluster: ChaosCluster;
  readonly #options: ChaosOptions;
  readonly #tally: Tally;
  readonly #tasks = new Map<string, ChaosTask>();
  readonly #recovering = new Set<Promise<void>>();
  /** When something happened, which may disconnect each client once. */
  readonly #strikes: Closing[] = [];
  #isEnding = false;

  private constructor(cluster: ChaosCluster, options: ChaosOptions, tally: Tally) {
    this.#cluster = cluster;
    this.#options = options;
    this.#tally = tally;
  }

  static async run(options: ChaosOptions, tally: Tally): Promise<void> {
    const cluster = await ChaosCluster.start();
    try {
      await new ChaosRun(cluster, options, tally).#run();
    } finally {
      if (/\b(?:unhandled|uncaught)\b/i.test(cluster.output)) tally.report('a server printed what it should not');
      if (tally.problems.length > 0) process.stderr.write(`${cluster.output}\n`);
      tally.standDowns += cluster.standDowns;
      tally.slow += cluster.slow.length;
      await cluster.remove();
    }
  }

  async #run(): Promise<void> {
    const working = Array.from({ length: this.#options.conversations }, (_, index) => this.#work(index));
    try {
      for (let kind = this.#next(); kind !== undefined; kind = this.#next()) await this.#strike(kind);
    } finally {
      this.#isEnding = true;
      await Promise.all(this.#recovering);
      await Promise.all(working);
    }
  }

  /** The kind that has come least often; none when each was there often enough, and for long enough. */
  #next(): FaultKind | undefined {
    const { times, minutes, kinds } = this.#options;
    const share = (kind: FaultKind): number => this.#tally.kinds[kind].faults / (isRare(kind) ? Math.ceil(times / 5) : times);
    const [next] = kinds.toSorted((a, b) => share(a) - share(b));
    return share(next!) >= 1 && this.#tally.minutes >= minutes ? undefined : next;
  }

  /** One conversation after the other. */
  async #work(index: number): Promise<void> {
    for (let turn = index; !this.#isEnding; turn += 1) {
      const { url, workspace, audit } = this.#cluster;
      let task: ChaosTask | undefined;
      const since = performance.now() - NOTICED_MS;
      try {
        task = await ChaosTask.begin({ url, workspace, audit }, CLIENTS[turn % CLIENTS.length]!, this.#options.steps);
        this.#tasks.set(task.id, task);
        this.#tally.compared(await task.run());
        for (const closings of task.closings) {
          const strikes = [...this.#strikes, ...this.#cluster.slow].filter(({ at }) => at > since);
          if (closings.length <= strikes.length) continue;
          const all = [...strikes, ...closings].toSorted((a, b) => a.at - b.at);
          const words = all.map(({ at, why }) => `${((at - since) / 1_000).toFixed(1)} s: ${why}`);
          this.#tally.report(
            `${task.id}: a client was disconnected ${closings.length} times by ${strikes.length} strikes: ${words.join('; ')}`,
          );
        }
        await task.remove();
      } catch (cause) {
        this.#tally.report((cause as Error).message);
      } finally {
        if (task) this.#tasks.delete(task.id);
      }
    }
  }

  async #strike(kind: FaultKind): Promise<void> {
    if (kind === 'Postgres killed') await this.#strikeAll(kind);
    else if (kind === 'rolling update') await this.#roll(kind);
    else await this.#strikeOne(kind);
    await sleep(PAUSE_MS);
  }

  async #strikeOne(kind: Exclude<FaultKind, 'Postgres killed' | 'rolling update'>): Promise<void> {
    const chosen = await this.#choose(kind === 'frozen in mid action');
    if (!chosen) return;
    const { server, standings } = chosen;
    const began = performance.now();
    const actions = {
      killed: () => this.#cluster.kill(server),
      frozen: () => this.#cluster.freeze(server),
      'frozen in mid action': () => this.#cluster.freeze(server),
      'cut off': () => this.#cluster.cut(server),
    };
    const back = actions[kind]();
    this.#recover(kind === 'killed' ? back : this.#afterwards(kind, server, back));
    this.#struck(kind, server.name);
    await this.#untilResumed(kind, standings, { began, moved: true });
  }

  async #strikeAll(kind: 'Postgres killed'): Promise<void> {
    const began = performance.now();
    await this.#cluster.killPostgres();
    const all = await Promise.all(this.#cluster.up.map((server) => this.#atWorkOn(server)));
    this.#struck(kind, 'all');
    await this.#untilResumed(kind, all.flat(), { began, moved: false });
  }

  /** All that are there, one after the other. */
  async #roll(kind: 'rolling update'): Promise<void> {
    await Promise.all(this.#recovering);
    for (const server of this.#cluster.up) {
      const standings = await this.#atWorkOn(server);
      const began = performance.now();
      this.#struck(kind, server.name, 0);
      const back = this.#cluster.replace(server);
      this.#recover(back);
      await this.#untilResumed(kind, standings, { began, moved: true });
      await back;
    }
    this.#tally.kinds[kind].faults += 1;
  }

  #struck(kind: FaultKind, whom: string, faults = 1): void {
    this.#tally.kinds[kind].faults += faults;
    this.#strikes.push({ at: performance.now(), why: `${kind.toUpperCase()} ${whom}` });
  }

  /** A server with conversations at work, the most of all, beside another one that is up. */
  async #choose(inLongAction: boolean): Promise<{ readonly server: ChaosServer; readonly standings: readonly Standing[] } | undefined> {
    for (const end = performance.now() + CHOOSE_MS; performance.now() < end; await sleep(LOOK_MS)) {
      const { up } = this.#cluster;
      if (up.length < 2) continue;
      const all = await Promise.all(up.map(async (server) => ({ server, standings: await this.#atWorkOn(server) })));
      const fitting = all.filter(({ standings }) =>
        inLongAction ? standings.some(({ id }) => this.#tasks.get(id)?.isInLongAction) : standings.length > 0,
      );
      const [most] = fitting.toSorted((a, b) => b.standings.length - a.standings.length);
      if (most) return most;
    }
    return undefined;
  }

  async #atWorkOn({ front }: ChaosServer): Promise<readonly Standing[]> {
    const owned = await this.#cluster.audit.ownedBy(front.url).catch(() => []);
    return owned.filter(({ id }) => this.#tasks.get(id)?.isAtWork);
  }

  #recover(back: Promise<void>): void {
    const recovering = back
      .catch((cause: unknown) => this.#tally.report(`a server did not come back: ${String(cause)}`))
      .finally(() => this.#recovering.delete(recovering));
    this.#recovering.add(recovering);
  }

  /** What a server that was away tries to write. */
  async #afterwards(kind: FaultKind, { name }: ChaosServer, back: Promise<void>): Promise<void> {
    const began = performance.now();
    await back;
    await sleep(3_000);
    const { audit } = this.#cluster;
    this.#tally.kinds[kind].refused += await audit.refusedTo(name, (performance.now() - began) / 1_000).catch(() => 0);
  }

  /** CR2. Those whose agent was done before anything of it was noticed do not count. */
  async #untilResumed(
    kind: FaultKind,
    standings: readonly Standing[],
    { began, moved }: { readonly began: number; readonly moved: boolean },
  ): Promise<void> {
    const { faults, resumedMs } = this.#tally.kinds[kind];
    const went: number[] = [];
    let waiting = standings;
    for (const end = performance.now() + RESUME_MS; waiting.length > 0; await sleep(LOOK_MS)) {
      const first = await this.#cluster.audit.firstAfter(waiting, moved).catch(() => new Map<string, number>());
      waiting = waiting.filter(({ id }) => {
        const task = this.#tasks.get(id);
        const from = first.get(id);
        const at = from === undefined ? undefined : task?.received.whenFrom(from);
        // A server that leaves in order goes on until it hands over.
        const since = kind === 'rolling update' && from !== undefined ? (task?.received.whenBefore(from) ?? began) : began;
        if (at !== undefined) went.push(at - Math.max(began, since));
        return at === undefined && task !== undefined && (task.isAtWork || from !== undefined);
      });
      if (waiting.length === 0) {
        resumedMs.push(...went);
        const words = went.map((ms) => (ms / 1_000).toFixed(1)).join(', ');
        process.stderr.write(`chaos: ${this.#tally.minutes.toFixed(1)} min: ${kind} (${faults}): went on after ${words} s\n`);
      }
      if (performance.now() < end) continue;
      resumedMs.push(...went, ...waiting.map(() => RESUME_MS));
      return this.#tally.report(`${kind}: after ${RESUME_MS / 1_000} s these had not gone on: ${waiting.map(({ id }) => id).join(', ')}`);
    }
  }
}

function isRare(kind: FaultKind): boolean {
  return kind === 'Postgres killed' || kind === 'rolling update';
}
