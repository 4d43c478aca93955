import { findServer, type Config } from '@tendon/server/headless';

export interface ServerAddress {
  readonly url: string;
  readonly key: string | undefined;
}

const ANSWER_MS = 2_000;

/** The server that runs on this home and answers; `undefined` if there is none. */
export async function runningServer(config: Pick<Config, 'home' | 'sessionApiKey'>): Promise<ServerAddress | undefined> {
  const found = await findServer(config);
  if (!found) return undefined;
  const answer = await fetch(`${found.url}/alive`, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok ? { url: found.url, key: found.headers['X-Session-API-Key'] } : undefined;
}
