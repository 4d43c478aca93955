import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ChangeAgentStateAction, MessageAction, type Event, type NetworkFrame } from '@tendon/protocol';
import { atifText, type Config, type Engine, composeEngine, systemClock } from '@tendon/server/headless';
import { EXIT } from '../add-command.ts';
import { watchInterruption, type Interruption } from '../terminal/interruption.ts';
import { createJsonRenderer, type Renderer } from './renderer.ts';
import { endOf, exitCodeOf, saysDone } from './outcome.ts';
import { createTextRenderer } from './text-renderer.ts';

export interface RunTask {
  readonly task: string;
  readonly json: boolean;
  /** Where the trajectory goes when the run ends. */
  readonly atif: string | undefined;
  /** In a copy of the folder. */
  readonly worktree: boolean;
  readonly model: string | undefined;
  readonly config: Config;
  readonly notices: readonly string[];
}

/** How long the agent may take to stop when it is asked to. */
const STOP_MS = 10_000;
/** How long the sandbox may take to end when it is forced to. */
const FORCE_MS = 3_000;

/** One task from beginning to end, with the engine in this process. Resolves with the exit code; nothing is left running. */
export async function runTask({ task, json, atif, worktree, model, config, notices }: RunTask): Promise<number> {
  using interruption = watchInterruption(process.stdout);
  const renderer = json ? createJsonRenderer(toOutput, toErrors) : terminalRenderer();
  for (const notice of notices) toErrors(`${notice}\n`);
  let engine: Engine;
  try {
    engine = await openEngine(config, (notice) => toErrors(`${notice}\n`));
  } catch (error) {
    toErrors(`${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.failed;
  }
  try {
    return await follow(engine, { task, atif, worktree, model, renderer, interruption });
  } finally {
    renderer.end();
    await engine.close();
  }
}

interface Following {
  readonly task: string;
  readonly atif: string | undefined;
  /** In a copy of the folder. */
  readonly worktree: boolean;
  readonly model: string | undefined;
  readonly renderer: Renderer;
  readonly interruption: Interruption;
}

async function follow(engine: Engine, { task, atif, worktree, model, renderer, interruption }: Following): Promise<number> {
  const { conversations, sandbox } = engine;
  const created = await conversations.create({ trigger: 'cli', worktree, ...(model !== undefined && { model }) });
  if (!created.ok) return refuse(created.error.message);
  const { record } = created;
  renderer.begin({
    conversationId: record.id,
    model: engine.modelOf(record),
    sandbox: `${sandbox.strength} (${sandbox.description})`,
    workspace: record.workspace,
  });
  interruption.armed();
  const held = await conversations.enter(record.id);
  if (!held) return refuse('The conversation could not be opened.');
  const shownHosts = new Set<string>();
  const unwatch = held.open.watch((frame) => {
    renderer.frame(frame);
    if (frame.volatile === 'network') noticeHosts(frame.questions, shownHosts, renderer);
  });
  const forced = new Promise<number>((resolve) => {
    interruption.forced.addEventListener('abort', () => resolve(EXIT.interrupted));
  });
  try {
    const submitted = await conversations.submit(record.id, MessageAction.create({ content: task }));
    if (!submitted.ok) return refuse(submitted.error.message);
    const stopping = stopWhenAsked(engine, record.id, renderer, interruption);
    const events = held.open.conversation.log.follow(0, { signal: AbortSignal.any([stopping, interruption.forced]) });
    const exitCode = await Promise.race([untilEnd(events, submitted.event.id, renderer), forced]);
    return interruption.asked.aborted ? EXIT.interrupted : exitCode;
  } finally {
    unwatch();
    held.release();
    await endSandbox(engine, record.id, interruption.forced);
    if (atif !== undefined) await pipeline(Readable.from(atifText(held.open.conversation.log)), createWriteStream(atif, { mode: 0o600 }));
  }
}

/** Says of each host that its sandbox was refused what lets it through; nobody can answer here. */
function noticeHosts(questions: NetworkFrame['questions'], shown: Set<string>, renderer: Renderer): void {
  for (const { host, port } of questions) {
    if (shown.has(host)) continue;
    shown.add(host);
    renderer.notice(
      `The sandbox wants to reach ${host}:${port}, which is on no list. To let it, add ${host} to SANDBOX_NETWORK_ALLOW and run again`,
    );
  }
}

/** Shows every event until one after the task ends the run; a log that ends before is a failure. */
async function untilEnd(events: AsyncIterable<Event>, taskId: number, renderer: Renderer): Promise<number> {
  let isDone = true;
  for await (const event of events) {
    renderer.event(event);
    isDone = saysDone(event) ?? isDone;
    const end = event.id > taskId ? endOf(event) : undefined;
    if (end) return exitCodeOf(end, isDone);
  }
  return EXIT.failed;
}

/** Asks the agent to stop when the user does. The returned signal aborts when that was refused or took too long. */
function stopWhenAsked({ conversations }: Engine, id: string, renderer: Renderer, { asked }: Interruption): AbortSignal {
  const given = new AbortController();
  const stop = async (): Promise<void> => {
    renderer.notice('Stopping; once more ends it at once');
    setTimeout(() => given.abort(), STOP_MS).unref();
    const answer = await conversations.submit(id, ChangeAgentStateAction.create({ agent_state: 'stopped' }));
    if (!answer.ok) given.abort();
  };
  const onAsked = () => void stop().catch(() => given.abort());
  if (asked.aborted) onAsked();
  else asked.addEventListener('abort', onAsked, { once: true });
  return given.signal;
}

/** Nothing the agent started outlives the run. */
async function endSandbox(engine: Engine, id: string, forced: AbortSignal): Promise<void> {
  const ending = engine.conversations.stop(id).catch(() => undefined);
  const cut = new Promise<void>((resolve) => {
    const onForced = () => void engine.runtimes.stop(id).then(resolve, resolve);
    if (forced.aborted) onForced();
    else forced.addEventListener('abort', onForced, { once: true });
  });
  const deadline = new Promise<void>((resolve) => void setTimeout(resolve, forced.aborted ? FORCE_MS : STOP_MS).unref());
  await Promise.race([ending, cut, deadline]);
}

function terminalRenderer(): Renderer {
  const isLive = process.stdout.isTTY === true && process.env.TERM !== 'dumb';
  const isColoured = isLive && !process.env.NO_COLOR;
  return createTextRenderer({ write: toOutput, isLive, isColoured, now: () => performance.now() });
}

function refuse(message: string): number {
  toErrors(`${message}\n`);
  return EXIT.failed;
}

function toOutput(text: string): void {
  process.stdout.write(text);
}

function toErrors(text: string): void {
  process.stderr.write(text);
}

/** Nobody can answer a sandbox that wants to reach a host, so it does not wait for it. */
const OPTIONS = { clock: systemClock, questionWaitMs: 0 };

/**
 * The engine over the user's own memory, so that runs stand in the list of conversations and use the stored settings.
 * While a server or another run has it, this run keeps its log in a folder of its own. Rejects with an Error whose message can be shown.
 */
async function openEngine(config: Config, notify: (notice: string) => void): Promise<Engine> {
  try {
    return await composeEngine(config, OPTIONS);
  } catch (error) {
    if (!isLocked(error)) throw error;
    const home = join(config.home, 'runs', randomUUID());
    notify(`Another Tendon is using ${config.home}; this run is stored in ${home}.`);
    return composeEngine({ ...config, home }, OPTIONS);
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.name === 'StorageError' && 'code' in error && error.code === 'locked';
}
