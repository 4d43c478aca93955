import { boundedFetch } from '../bounded-fetch.ts';

/** Why a login does not succeed, in words that can be shown: nothing of an answer is in them. */
export class LoginProblem extends Error {
  /** The status of a refusal. */
  readonly status: number | undefined;

  constructor(words: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(words, options);
    this.status = status;
  }
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const ANSWER_MS = 20_000;

/**
 * For the addresses that the MCP server at `server` names for its login: its operator chooses them, so only https is asked, or the
 * server's own machine, redirects are not followed, and what is refused is reported by its status.
 */
export function oauthFetch(server: string, { anyStatus = false }: { readonly anyStatus?: boolean } = {}): Fetch {
  const send = boundedFetch(fetch);
  return async (url, init) => {
    const { host } = new URL(url);
    if (!isLoginAddress(String(url), server)) throw new LoginProblem(`its login is at ${host}, which is no https address`);
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await send(url, { ...init, redirect: 'manual', signal }).catch((cause: unknown) => {
      throw new LoginProblem(signal.aborted ? `${host} did not answer in time` : `${host} cannot be reached`, { cause });
    });
    // What is only looked up may be absent: there are several places to look.
    if (answer.ok || anyStatus || (init?.method ?? 'GET') === 'GET') return answer;
    throw new LoginProblem(`${host} refused the login with the status ${answer.status}`, { status: answer.status });
  };
}

export function isLoginAddress(address: string, server: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === URL.parse(server)?.hostname);
}
