/**
 * One conversation at work, with a client that looks on: its agent runs commands, each of which writes a token that nothing else writes and
 * prints it. Afterwards what the client was sent, what a new client is sent, what the database holds and what was done are compared.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireEvent } from '@tendon/testing/servers';
import type { Audit, Written } from './audit.ts';
import { openClient, type ChaosClient, type ClientKind, type Closing, type Received } from './chaos-client.ts';
import { PlainWatcher } from './plain-watcher.ts';

const LOOK_MS = 100;
const DEADLINE_MS = 300_000;
/** After which a message without an echo is sent again, by clients that do not do so themselves. */
const SAY_AGAIN_MS = 10_000;
/** Every fourth command is still running when a server that froze is followed. */
const LONG = { each: 4, at: 3, seconds: 4 };
const TOKEN = /^(\d+\.\d+)$/m;
const REST: readonly string[] = ['finished', 'awaiting_user_input', 'stopped', 'error', 'paused', 'rate_limited'];

export interface TaskPlace {
  /** Of the balancer. */
  readonly url: string;
  readonly workspace: string;
  readonly audit: Audit;
}

export interface Comparison {
  readonly events: number;
  readonly lost: number;
  readonly doubled: number;
  readonly commands: number;
  readonly ranTwice: number;
  readonly unknown: number;
  /** How often the client was disconnected. */
  readonly closings: number;
  /** What is not as it should be, in words. */
  readonly problems: readonly string[];
}

export class ChaosTask {
  readonly id: string;
  readonly #place: TaskPlace;
  readonly #kind: ClientKind;
  readonly #client: ChaosClient;
  readonly #plain: PlainWatcher;
  readonly #files: readonly string[];
  readonly #steps: number;
  #isAtWork = true;

  private constructor(id: string, place: TaskPlace, { kind, files, steps }: { kind: ClientKind; files: readonly string[]; steps: number }) {
    this.id = id;
    this.#place = place;
    this.#kind = kind;
    this.#files = files;
    this.#steps = steps;
    this.#client = openClient(kind, place.url, id);
    this.#plain = new PlainWatcher(place.url, id);
  }

  static async begin(place: TaskPlace, kind: ClientKind, steps: number): Promise<ChaosTask> {
    const directory = randomUUID();
    mkdirSync(join(place.workspace, directory));
    const files = ['first', 'second'].map((part) => join(place.workspace, directory, `${part}.txt`));
    const asked = { initial_user_msg: wordsFor(files[0]!, steps), directory: join(place.workspace, directory) };
    const made = await ask<{ conversation_id: string }>(`${place.url}/api/conversations`, asked, { 'idempotency-key': directory });
    return new ChaosTask(made.conversation_id, place, { kind, files, steps });
  }

  get received(): Received {
    return this.#client.received;
  }

  /** Of each client. */
  get closings(): readonly (readonly Closing[])[] {
    return [this.received.closings, this.#plain.closings];
  }

  get isAtWork(): boolean {
    return this.#isAtWork;
  }

  /** A command is running that goes on for some seconds. */
  get isInLongAction(): boolean {
    const last = this.received.events.at(-1);
    const step = Number(/'step (\d+)'/.exec(String(last?.args?.command))?.[1]);
    return this.#isAtWork && last?.action === 'run' && step % LONG.each === LONG.at;
  }

  /** Lets the agent do both parts, the second of which the client asks for, compares, and deletes the conversation. */
  async run(): Promise<Comparison> {
    try {
      await this.#untilRest(this.#files[0]!);
      await this.#say(wordsFor(this.#files[1]!, this.#steps));
      await this.#untilRest(this.#files[1]!);
      this.#isAtWork = false;
      return await this.#compare();
    } finally {
      this.#isAtWork = false;
      this.#client.close();
      this.#plain.close();
    }
  }

  async remove(): Promise<void> {
    await again(async () => {
      const { ok, status } = await fetch(`${this.#place.url}/api/conversations/${this.id}`, deadline({ method: 'DELETE' }));
      if (!ok && status !== 404) throw new Error(`the deletion of ${this.id} is answered with ${status}`);
    });
  }

  /** The agent has done what this asked for. */
  async #untilRest(file: string): Promise<void> {
    await this.#until(`the agent to be done with ${file}`, () => {
      const { events } = this.received;
      const asked = events.findLast((event) => isAsking(event, file))?.id;
      const last = events.findLast(({ observation }) => observation === 'agent_state_changed');
      return asked !== undefined && last !== undefined && last.id > asked && REST.includes(String(last.extras?.agent_state));
    });
    if (this.received.state !== 'finished') throw new Error(`the agent of ${this.id} is ${this.received.state}: ${lastOf(this.received)}`);
  }

  async #say(words: string): Promise<void> {
    const [file] = this.#files.slice(1);
    const isEchoed = (): boolean => this.received.events.some((event) => isAsking(event, file!));
    let sentAt = -Infinity;
    await this.#until('the echo of a message', () => {
      if (isEchoed()) return true;
      const isDue = performance.now() - sentAt > SAY_AGAIN_MS;
      if (isDue && (sentAt === -Infinity || this.#kind !== 'SDK')) {
        this.#client.say(words);
        sentAt = performance.now();
      }
      return false;
    });
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    for (const end = performance.now() + DEADLINE_MS; !holds(); await sleep(LOOK_MS))
      if (performance.now() > end) throw new Error(`${this.id} (${this.#kind}) never came to this: ${what}; ${lastOf(this.received)}`);
  }

  async #compare(): Promise<Comparison> {
    const { audit, url } = this.#place;
    const fresh = await this.#fresh();
    const log = (await ask<{ trajectory: WireEvent[] }>(`${url}/api/conversations/${this.id}/trajectory`)).trajectory;
    const stored = await again(() => audit.storedOf(this.id));
    const writes = await again(() => audit.writesOf(this.id));
    const problems: string[] = [];
    const report = (problem: string): void => void problems.push(`${this.id} (${this.#kind}): ${problem}`);
    const seen = this.received.events;
    const ids = seen.map(({ id }) => id);
    const missing = lasting(fresh).filter(({ id }) => !ids.includes(id));
    const gaps = stored.ids.filter((id, index) => id !== index).length + Math.abs(stored.nextId - stored.ids.length);
    const inOrder = lasting(seen).map(({ id }) => id);
    const doubled = ids.length - new Set(ids).size + inOrder.filter((id, index) => index > 0 && id < inOrder[index - 1]!).length;
    if (missing.length > 0) report(`the client misses ${missing.map(({ id }) => id).join(', ')}`);
    if (gaps > 0) report(`the log has gaps: ${stored.ids.join(' ')}, and ends at ${stored.nextId}`);
    if (doubled > 0) report(`the client was sent events twice, or in another order: ${ids.join(' ')}`);
    if (log.length !== stored.ids.length) report(`the trajectory has ${log.length} events, the log ${stored.ids.length}`);
    const shown = new Map(fresh.map((event) => [event.id, textOf(event)]));
    for (const event of lasting(seen)) {
      if (shown.has(event.id) && shown.get(event.id) !== textOf(event))
        report(`event ${event.id} was ${textOf(event)}, and is ${shown.get(event.id)}`);
    }
    for (const problem of await this.#comparePlain()) report(problem);
    for (const problem of unfenced(writes)) report(problem);
    const done = this.#compareCommands(log, report);
    const closings = this.closings.flat().length;
    return { events: stored.ids.length, lost: missing.length + gaps, doubled, ...done, closings, problems };
  }

  /** What a client is sent that was never there before. */
  async #fresh(): Promise<readonly WireEvent[]> {
    const { lastId } = this.received;
    const client = openClient(this.#kind, this.#place.url, this.id);
    try {
      await this.#until('the whole history at a new client', () => client.received.lastId >= lastId);
      return client.received.events;
    } finally {
      client.close();
    }
  }

  async #comparePlain(): Promise<readonly string[]> {
    const fresh = new PlainWatcher(this.#place.url, this.id);
    try {
      for (const each of [fresh, this.#plain]) await each.until(Math.max(1, this.#plain.frames.length, fresh.frames.length), DEADLINE_MS);
      const { frames, problems } = this.#plain;
      const other = frames.findIndex((frame, index) => frame !== fresh.frames[index]);
      return other < 0 ? problems : [...problems, `/ws: frame ${other} was ${frames[other]}, and is ${fresh.frames[other]}`];
    } finally {
      fresh.close();
    }
  }

  #compareCommands(log: readonly WireEvent[], report: (problem: string) => void) {
    const runs = log.filter(({ action, source }) => action === 'run' && source === 'agent');
    const tokens: string[] = [];
    let [unknown, ranTwice] = [0, 0];
    for (const run of runs) {
      const answers = log.filter(({ cause, observation }) => cause === run.id && observation !== undefined);
      if (answers.length !== 1) report(`action ${run.id} has ${answers.length} answers`);
      const token = answers[0]?.observation === 'run' ? TOKEN.exec(answers[0].content ?? '')?.[1] : undefined;
      if (token === undefined) {
        unknown += 1;
        if (answers[0]?.extras?.error_id !== 'AGENT_ERROR$OUTCOME_UNKNOWN')
          report(`action ${run.id} is answered with ${JSON.stringify(answers[0])}`);
      } else tokens.push(token);
    }
    const lines = this.#files.flatMap((file) => linesOf(file));
    const unrecorded = lines.filter((line) => !tokens.includes(line)).length;
    ranTwice += Math.max(0, unrecorded - unknown) + (lines.length - new Set(lines).size);
    if (ranTwice > 0) report(`${lines.length} commands were run, the log has ${runs.length}: ${lines.join(' ')}`);
    const undone = tokens.filter((token) => !lines.includes(token));
    if (undone.length > 0) report(`the log has outcomes of what was not done: ${undone.join(' ')}`);
    return { commands: runs.length, ranTwice, unknown };
  }
}

function wordsFor(file: string, steps: number): string {
  const pause = `sleep $(( {i} % ${LONG.each} == ${LONG.at} ? ${LONG.seconds} : 0 )).3`;
  return `BENCH:${steps}:: 'step {i}'; t={i}.$RANDOM$(date +%N); echo $t >> ${basename(file)}; ${pause}; echo $t`;
}

function isAsking({ source, action, args, content }: WireEvent, file: string): boolean {
  return source === 'user' && action === 'message' && String(args?.content ?? content).includes(`>> ${basename(file)};`);
}

/** Who is named as the source of what the server says itself differs between what is live and what is past, as clients expect it. */
function textOf(event: WireEvent): string {
  return JSON.stringify({ ...event, source: event.source === 'environment' ? 'agent' : event.source });
}

/** A client that was away is sent only the last of the states it missed. */
function lasting(events: readonly WireEvent[]): readonly WireEvent[] {
  return events.filter(({ observation }) => observation !== 'agent_state_changed');
}

/** An owner writes under its own epoch, after all that were before it. */
function unfenced(writes: readonly Written[]): readonly string[] {
  return writes.flatMap((write, index) => {
    const before = writes[index - 1];
    if (!before) return write.from === 0 ? [] : [`the first write begins at ${write.from}`];
    const isNext = write.from === before.to + 1;
    const isFenced = write.epoch > before.epoch || (write.epoch === before.epoch && write.writer === before.writer);
    return isNext && isFenced ? [] : [`after ${JSON.stringify(before)} was written ${JSON.stringify(write)}`];
  });
}

function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

function lastOf({ events }: Received): string {
  return `${events.length} events, at last ${events
    .slice(-4)
    .map((event) => JSON.stringify(event).slice(0, 300))
    .join(' ')}`;
}

function deadline(init: RequestInit = {}): RequestInit {
  return { ...init, signal: AbortSignal.timeout(15_000) };
}

/** Asks until there is an answer: the server that is asked may be the one that is struck. */
async function ask<T>(url: string, body?: unknown, more: Readonly<Record<string, string>> = {}): Promise<T> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json', ...more }, body: JSON.stringify(body) };
  return again(async () => {
    const response = await fetch(url, deadline(body === undefined ? {} : post));
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  });
}

async function again<T>(work: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + DEADLINE_MS; ; await sleep(500)) {
    try {
      return await work();
    } catch (cause) {
      if (performance.now() > end) throw cause;
    }
  }
}
