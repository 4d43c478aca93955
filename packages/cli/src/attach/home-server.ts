import { createRest, type ConversationInfo, type Rest } from '@tendon/client';
import { readFiledConfig } from '@tendon/server/headless';
import { withOptions } from '../environment-options.ts';
import { runningServer, type ServerAddress } from './running-server.ts';

export interface HomeServer extends AsyncDisposable {
  readonly rest: Rest;
  readonly address: ServerAddress;
  /** Others use it too: it does not end with this command. */
  readonly isShared: boolean;
}

/** The server that runs on a home; else one in this process, over the home's store. Rejects with an Error whose message can be shown. */
export async function openHomeServer(home: string | undefined): Promise<HomeServer> {
  const read = await readFiledConfig(withOptions({ LOG_LEVEL: 'error', ...process.env }, home === undefined ? {} : { home }));
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const running = await runningServer(read.config);
  if (running) return { ...clientOf(running), isShared: true, [Symbol.asyncDispose]: async () => undefined };
  const { startServer } = await import('@tendon/server');
  const server = await startServer({ ...read.config, host: '127.0.0.1', port: 0, localToken: false }, { isPrivate: true });
  const address = { url: server.url, key: read.config.sessionApiKey?.reveal() };
  return { ...clientOf(address), isShared: false, [Symbol.asyncDispose]: () => server.close() };
}

function clientOf(address: ServerAddress): Pick<HomeServer, 'rest' | 'address'> {
  return { address, rest: createRest({ baseUrl: address.url, apiKey: () => address.key }) };
}

const PAGE = 100;
const MIN_PREFIX = 4;
/** The length of the ids that a server makes. */
const WHOLE_ID = 32;

/** Finds a conversation by its id or the beginning of it. Rejects with an Error whose message can be shown. */
export async function findConversation(rest: Rest, given: string): Promise<ConversationInfo> {
  const exact = await rest.conversations.get(given);
  if (exact) return exact;
  if (given.length >= MIN_PREFIX && given.length < WHOLE_ID) {
    const found: ConversationInfo[] = [];
    for await (const info of allConversations(rest)) if (info.conversation_id.startsWith(given)) found.push(info);
    if (found.length > 1) throw new Error(`${found.length} conversations begin with ${given}: name more of the id.`);
    if (found[0]) return found[0];
  }
  throw new Error(`There is no conversation ${given}.`);
}

/** Newest first; `directory`: of this folder alone. */
export async function* allConversations(rest: Rest, directory?: string): AsyncGenerator<ConversationInfo> {
  let pageId: string | undefined;
  do {
    const page = await rest.conversations.list({
      limit: PAGE,
      ...(pageId !== undefined && { pageId }),
      ...(directory !== undefined && { directory }),
    });
    yield* page.results;
    pageId = page.next_page_id ?? undefined;
  } while (pageId !== undefined);
}
