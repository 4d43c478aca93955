import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Event, NetworkFrame } from '@tendon/protocol';
import { grantFolder, hasRemoteSandboxes, type Config } from '@tendon/server/headless';
import { EXIT } from '../add-command.ts';
import { runningServer } from '../attach/running-server.ts';
import { watchInterruption, type Interruption } from '../terminal/interruption.ts';
import { offeredChoices } from '../terminal/agent-words.ts';
import { markdownProse } from '../terminal/markdown-prose.ts';
import { printable } from '../terminal/printable.ts';
import { openEnginePlace } from './engine-place.ts';
import { createJsonRenderer, type Renderer } from './renderer.ts';
import { endOf, exitCodeOf, saysDone } from './outcome.ts';
import { PrintRenderer } from './print-renderer.ts';
import { isTask, type TaskChoices, type TaskPlace } from './task-place.ts';
import { TextRenderer } from './text-renderer.ts';

export interface RunTask extends TaskChoices {
  readonly task: string;
  /** `data:` URLs. */
  readonly imageUrls?: readonly string[];
  /** `events`: the story, or each event as JSON. `answer`: that alone, or one object about the run. */
  readonly output: 'events' | 'answer';
  readonly json: boolean;
  /** Where the trajectory goes when the run ends. */
  readonly atif?: string | undefined;
  /** The conversation to go on with; default: a new one. */
  readonly conversation?: string | undefined;
  readonly config: Config;
  readonly notices: readonly string[];
}

/** How long what comes with a state may come after it. */
const BEHIND_MS = 200;
/** How long the agent may take to stop when it is asked to. */
const STOP_MS = 10_000;

/** One task from beginning to end: on the server of this home where one runs, else with the engine in this process. Resolves with the exit code. */
export async function runTask(run: RunTask): Promise<number> {
  using interruption = watchInterruption(process.stdout);
  // Who does not read how it goes still wants it done.
  process.stderr.on('error', () => undefined);
  const renderer = rendererOf(run);
  const began = performance.now();
  for (const notice of run.notices) toErrors(`${notice}\n`);
  let place: TaskPlace;
  try {
    place = await openPlace(run);
  } catch (error) {
    toErrors(`${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.failed;
  }
  let outcome: Outcome | undefined;
  try {
    outcome = await follow(place, run, renderer, interruption);
    if (outcome.exitCode === EXIT.undecided) renderer.notice(`It needs a decision. Take it with: tendon -r ${place.facts.conversationId}`);
    return outcome.exitCode;
  } finally {
    renderer.end(outcome && { ...outcome, durationMs: performance.now() - began });
    await place[Symbol.asyncDispose]();
  }
}

async function openPlace({ config, conversation, ...choices }: RunTask): Promise<TaskPlace> {
  const directory = hasRemoteSandboxes(config.runtime) ? undefined : config.workspaceBase;
  const server = await runningServer(config);
  if (directory !== undefined) await grantFolder(config.home, directory).catch(() => undefined); // the server reports it
  if (!server) return openEnginePlace(config, choices, (notice) => toErrors(`${notice}\n`), conversation);
  // With the client's sockets, which a run without a server does not pay for.
  const { openServerPlace } = await import('./server-place.ts');
  return openServerPlace({ ...choices, server, directory, conversation });
}

interface Outcome {
  readonly exitCode: number;
  /** The state that ended it; empty where none did. */
  readonly state: string;
}

async function follow(place: TaskPlace, run: RunTask, renderer: Renderer, interruption: Interruption): Promise<Outcome> {
  const clientId = randomUUID();
  renderer.begin(place.facts);
  interruption.armed();
  const forced = new Promise<Outcome>((resolve) => {
    interruption.forced.addEventListener('abort', () => resolve({ exitCode: EXIT.interrupted, state: '' }));
  });
  let unfollow: (() => void) | undefined;
  let waits = false;
  try {
    const ended = new Promise<Outcome>((resolve) => {
      unfollow = place.follow(watcherOf({ clientId, renderer, isResumed: run.conversation !== undefined, resolve }));
    });
    await place.submit(run.task, { clientId, imageUrls: run.imageUrls ?? [] });
    const given = stopWhenAsked(place, renderer, interruption);
    const outcome = await Promise.race([ended, forced, given]);
    waits = outcome.exitCode === EXIT.undecided && !interruption.asked.aborted;
    return interruption.asked.aborted ? { ...outcome, exitCode: EXIT.interrupted } : outcome;
  } catch (error) {
    toErrors(`${error instanceof Error ? error.message : String(error)}\n`);
    return { exitCode: EXIT.failed, state: '' };
  } finally {
    unfollow?.();
    await place.leave({ forced: interruption.forced, waits });
    if (run.atif !== undefined) await pipeline(Readable.from(place.atif()), createWriteStream(run.atif, { mode: 0o600 }));
  }
}

interface Watching {
  readonly clientId: string;
  readonly renderer: Renderer;
  /** What was there before the task is not shown. */
  readonly isResumed: boolean;
  readonly resolve: (outcome: Outcome) => void;
}

/** Shows every event until one after the task ends the run; a log that ends before is a failure. */
function watcherOf({ clientId, renderer, isResumed, resolve }: Watching) {
  const shownHosts = new Set<string>();
  const last = { isDone: true, asks: false };
  let hasBegun = false;
  let isOver = false;
  const end = (outcome: Outcome): void => {
    isOver = true;
    resolve(outcome);
  };
  return {
    event(event: Event): void {
      if (isOver) return;
      hasBegun ||= isTask(event, clientId);
      if (hasBegun || !isResumed) renderer.event(event);
      if ('action' in event && event.source === 'agent') last.asks = offeredChoices(event).length > 0;
      last.isDone = saysDone(event) ?? last.isDone;
      const state = hasBegun ? endOf(event) : undefined;
      if (state === 'awaiting_user_confirmation') {
        // The action that waits comes behind the state, and is shown.
        const over = () => void (!isOver && end({ exitCode: exitCodeOf(state, last), state }));
        setTimeout(over, BEHIND_MS);
      } else if (state) end({ exitCode: exitCodeOf(state, last), state });
    },
    frame(frame: Parameters<Renderer['frame']>[0]): void {
      if (isOver || !(hasBegun || !isResumed)) return;
      renderer.frame(frame);
      if (frame.volatile === 'network') noticeHosts(frame.questions, shownHosts, renderer);
    },
    ended: () => void (!isOver && end({ exitCode: EXIT.failed, state: '' })),
    offline(): void {
      if (isOver) return;
      renderer.notice('The server cannot be reached any more. Where it still runs, the agent goes on there');
      end({ exitCode: EXIT.failed, state: '' });
    },
  };
}

/** Says of each host that its sandbox was refused what lets it through; nobody can answer here. */
function noticeHosts(questions: NetworkFrame['questions'], shown: Set<string>, renderer: Renderer): void {
  for (const { host, port } of questions) {
    if (shown.has(host)) continue;
    shown.add(host);
    renderer.notice(
      `The sandbox wants to reach ${printable(host)}:${port}, which is on no list. To let it, add ${printable(host)} to SANDBOX_NETWORK_ALLOW and run again`,
    );
  }
}

/** Asks the agent to stop when the user does. Resolves when that was refused or took too long. */
function stopWhenAsked(place: TaskPlace, renderer: Renderer, { asked }: Interruption): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const giveUp = () => resolve({ exitCode: EXIT.interrupted, state: '' });
  const stop = async (): Promise<void> => {
    renderer.notice('Stopping; once more ends it at once');
    setTimeout(giveUp, STOP_MS).unref();
    if (!(await place.stop())) giveUp();
  };
  const onAsked = () => void stop().catch(giveUp);
  if (asked.aborted) onAsked();
  else asked.addEventListener('abort', onAsked, { once: true });
  return promise;
}

function rendererOf({ output, json }: RunTask): Renderer {
  if (output === 'answer') {
    const isSeen = process.stdout.isTTY && process.stderr.isTTY;
    const styled = isColoured(process.stdout) ? (text: string) => markdownProse(text, () => process.stdout.columns || 80) : undefined;
    return new PrintRenderer({ json, write: toOutput, progress: textRenderer(process.stderr), isSeen, styled });
  }
  return json ? createJsonRenderer(toOutput, toErrors) : textRenderer(process.stdout);
}

/** How the run goes, in words. */
function textRenderer(output: NodeJS.WriteStream): Renderer {
  const columns = () => output.columns || 80;
  const how = { isLive: isLive(output), isColoured: isColoured(output) };
  return new TextRenderer({ write: (text) => void output.write(text), ...how, now: () => performance.now(), columns });
}

function isLive(output: NodeJS.WriteStream): boolean {
  return output.isTTY && process.env.TERM !== 'dumb';
}

function isColoured(output: NodeJS.WriteStream): boolean {
  return isLive(output) && !process.env.NO_COLOR;
}

function toOutput(text: string): void {
  process.stdout.write(text);
}

function toErrors(text: string): void {
  process.stderr.write(text);
}
