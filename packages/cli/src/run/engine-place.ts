import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ChangeAgentStateAction, MessageAction } from '@tendon/protocol';
import { atifText, composeEngine, systemClock, type Config, type Engine } from '@tendon/server/headless';
import { POLICIES, type TaskChoices, type TaskPlace } from './task-place.ts';

/** How long the sandbox may take to end. */
const STOP_MS = 10_000;
/** The same, when it is forced to. */
const FORCE_MS = 3_000;

/** A conversation of an engine in this process: nothing of it is left running. `conversation`: one that is there; default: a new one. */
export async function openEnginePlace(
  config: Config,
  choices: TaskChoices,
  notify: (notice: string) => void,
  conversation?: string,
): Promise<TaskPlace> {
  const engine = await openEngine(config, notify);
  try {
    return await placeIn(engine, conversation ?? (await create(engine, choices)));
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function create(
  { conversations }: Engine,
  { model, agent, approve, budget, maxSteps, worktree = false }: TaskChoices,
): Promise<string> {
  const created = await conversations.create({
    trigger: 'cli',
    worktree,
    ...(model !== undefined && { model }),
    ...(agent !== undefined && { agent }),
    confirmationPolicy: approve && POLICIES[approve],
    maxBudgetUsd: budget,
    maxIterations: maxSteps,
  });
  if (!created.ok) throw new Error(created.error.message);
  return created.record.id;
}

async function placeIn(engine: Engine, id: string): Promise<TaskPlace> {
  const { conversations, sandbox } = engine;
  const record = await conversations.get(id);
  const held = await conversations.enter(id);
  if (!record || !held) throw new Error(`There is no conversation ${id}.`);
  const ended = new AbortController();
  const { log } = held.open.conversation;
  const submit = async (action: Parameters<typeof conversations.submit>[1]) => conversations.submit(id, action);
  return {
    facts: {
      conversationId: id,
      model: engine.modelOf(record),
      sandbox: `${sandbox.strength} (${sandbox.description})`,
      workspace: record.workspace,
    },
    async submit(content, { clientId, imageUrls }) {
      const submitted = await submit({ ...MessageAction.create({ content, image_urls: [...imageUrls] }), client_id: clientId });
      if (!submitted.ok) throw new Error(submitted.error.message);
    },
    follow(to) {
      const stopped = new AbortController();
      const unwatch = held.open.watch((frame) => to.frame(frame));
      void (async () => {
        for await (const event of log.follow(0, { signal: AbortSignal.any([stopped.signal, ended.signal]) })) to.event(event);
      })()
        .catch(() => undefined)
        .finally(() => to.ended?.());
      return () => {
        stopped.abort();
        unwatch();
      };
    },
    stop: async () => (await submit(ChangeAgentStateAction.create({ agent_state: 'stopped' }))).ok,
    leave: ({ forced, waits }) => endSandbox(waits ? engine.runtimes : engine.conversations, engine, id, forced),
    atif: () => atifText(log),
    async [Symbol.asyncDispose]() {
      ended.abort();
      held.release();
      await engine.close();
    },
  };
}

/** Nothing the agent started outlives the run. */
async function endSandbox(by: { stop(id: string): Promise<unknown> }, engine: Engine, id: string, forced: AbortSignal): Promise<void> {
  const ending = by.stop(id).catch(() => undefined);
  const cut = new Promise<void>((resolve) => {
    const onForced = () => void engine.runtimes.stop(id).then(resolve, resolve);
    if (forced.aborted) onForced();
    else forced.addEventListener('abort', onForced, { once: true });
  });
  const deadline = new Promise<void>((resolve) => void setTimeout(resolve, forced.aborted ? FORCE_MS : STOP_MS).unref());
  await Promise.race([ending, cut, deadline]);
}

/** Nobody can answer a sandbox that wants to reach a host, so it does not wait for it. */
const OPTIONS = { clock: systemClock, questionWaitMs: 0 };

/**
 * The engine over the user's own memory, so that runs stand in the list of conversations and use the stored settings.
 * While another run has it, this run stores its log in a folder of its own. Rejects with an Error whose message can be shown.
 */
async function openEngine(config: Config, notify: (notice: string) => void): Promise<Engine> {
  try {
    return await composeEngine(config, OPTIONS);
  } catch (error) {
    if (!isLocked(error)) throw error;
    const home = join(config.home, 'runs', randomUUID());
    notify(`Another Tendon is using ${config.home}; this run is stored in ${home}.`);
    return composeEngine({ ...config, home, databaseUrl: undefined }, OPTIONS);
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.name === 'StorageError' && 'code' in error && error.code === 'locked';
}
