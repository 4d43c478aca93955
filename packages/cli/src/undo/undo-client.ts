import { createRest } from '@tendon/client';
import { CheckpointChanges, ConversationCheckpoints, ForkedConversation, RestoredCheckpoint } from '@tendon/protocol';
import { askForBody, findServer, readFiledConfig, type Config } from '@tendon/server/headless';
import { findConversation } from '../attach/home-server.ts';
import { withOptions } from '../environment-options.ts';

export type Restored = 'files' | 'conversation' | 'both';

/** The checkpoints of one conversation. Its methods reject with an Error whose message can be shown. */
export interface UndoClient {
  list(): Promise<ConversationCheckpoints>;
  changes(checkpoint: number): Promise<CheckpointChanges>;
  restore(checkpoint: number, what: Restored): Promise<RestoredOutcome>;
  fork(event: number | undefined): Promise<ForkedConversation>;
}

type RestoredOutcome = ReturnType<typeof RestoredCheckpoint.parse>;

/** Long enough to read and copy a large workspace. */
const DEADLINE_MS = 11 * 60_000;

/**
 * Opens the conversation with this id, or whose id begins with it, through the server that runs on this home: only one process at a time may
 * write a conversation's log.
 */
export async function openUndoClient(home: string | undefined, conversation: string): Promise<UndoClient> {
  const server = await findServer(await configOf(home));
  if (!server) throw new Error('No server runs on this home: start tendon serve, and try again.');
  const rest = createRest({ baseUrl: server.url, apiKey: () => server.headers['X-Session-API-Key'] });
  const base = `/api/conversations/${encodeURIComponent((await findConversation(rest, conversation)).conversation_id)}`;
  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    askForBody(server, method, base + path, { body, deadlineMs: DEADLINE_MS });
  return {
    list: async () => ConversationCheckpoints.parse(await ask('GET', '/checkpoints')),
    changes: async (number) => CheckpointChanges.parse(await ask('GET', `/checkpoints/${number}/changes`)),
    restore: async (number, what) => RestoredCheckpoint.parse(await ask('POST', `/checkpoints/${number}/restore`, { what })),
    fork: async (event) => ForkedConversation.parse(await ask('POST', '/fork', { event })),
  };
}

async function configOf(home: string | undefined): Promise<Config> {
  const read = await readFiledConfig(withOptions(process.env, home === undefined ? {} : { home }));
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.config;
}
