import { actions, connect, createRest } from '@tendon/client';
import { findConversation } from '../attach/home-server.ts';
import type { ServerAddress } from '../attach/running-server.ts';
import { followConnection } from '../attach/follow-connection.ts';
import { POLICIES, type TaskChoices, type TaskPlace } from './task-place.ts';

export interface ServerPlaceOptions extends TaskChoices {
  readonly server: ServerAddress;
  /** The folder of this machine that the agent works in; default: one of its own. */
  readonly directory: string | undefined;
  /** One that is there; default: a new one. */
  readonly conversation?: string | undefined;
}

/** A server that is started anew is back by then. */
const OFFLINE_MS = 30_000;

/** A conversation of a server that runs: it stands in its list, and stays there. Rejects with an Error whose message can be shown. */
export async function openServerPlace({ server, directory, conversation, ...choices }: ServerPlaceOptions): Promise<TaskPlace> {
  const rest = createRest({ baseUrl: server.url, apiKey: () => server.key });
  const named = conversation === undefined ? undefined : await findConversation(rest, conversation);
  const id = named?.conversation_id ?? (await createConversation(rest, directory, choices));
  const [info, about] = await Promise.all([rest.conversations.get(id), rest.options.serverInfo()]);
  if (!info) throw new Error(`There is no conversation ${id}.`);
  const connection = connect(id, { baseUrl: rest.baseUrl, apiKey: rest.apiKey, offlineAfterMs: OFFLINE_MS });
  const gone = new AbortController();
  try {
    const { connection: now } = await connection.when(
      ({ connection: { state }, loaded }) => loaded || state === 'refused' || state === 'offline',
      gone.signal,
    );
    if (now.state === 'refused') throw new Error(now.message);
    if (now.state === 'offline') throw new Error('The server cannot be reached any more.');
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    facts: {
      conversationId: id,
      model: info.llm_model ?? '',
      sandbox: about.sandbox?.description ?? '',
      workspace: directory ?? '',
    },
    async submit(content, { clientId, imageUrls }) {
      if (!connection.say(content, { clientId, imageUrls })) throw new Error('The server takes no message now.');
    },
    follow: (to) => followConnection(connection, to),
    stop: async () => connection.send(actions.stop()),
    leave: async () => undefined,
    atif: () => atifOf(server, id),
    [Symbol.asyncDispose]: async () => connection.close(),
  };
}

/** In a folder of this machine. */
export async function createConversation(
  rest: ReturnType<typeof createRest>,
  directory: string | undefined,
  { model, agent, approve, budget, maxSteps, worktree }: TaskChoices,
): Promise<string> {
  const created = await rest.conversations.create({
    ...(directory !== undefined && { directory }),
    ...(worktree && { git_worktree: true }),
    ...(model !== undefined && { llm_model: model }),
    ...(agent !== undefined && { agent }),
    ...(approve && { confirmation_policy: POLICIES[approve] }),
    ...(budget !== undefined && { max_budget_per_task: budget }),
    ...(maxSteps !== undefined && { max_iterations: maxSteps }),
  });
  return created.conversation_id;
}

async function* atifOf({ url, key }: ServerAddress, id: string): AsyncGenerator<Uint8Array> {
  const response = await fetch(`${url}/api/conversations/${id}/trajectory?format=atif`, {
    headers: key === undefined ? {} : { 'X-Session-API-Key': key },
  });
  if (!response.ok || !response.body) throw new Error(`The server answered ${response.status}.`);
  yield* response.body;
}
