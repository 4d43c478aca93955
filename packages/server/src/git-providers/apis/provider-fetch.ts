import { type ErrorCode, catalogError, type CatalogError, type GitProvider } from '@tendon/protocol';

type Code = Extract<ErrorCode, 'PROVIDER_REFUSED' | 'PROVIDER_FAILED' | 'PROVIDER_LIMIT' | 'PROVIDER_NOT_FOUND' | 'NOT_IMPLEMENTED'>;

/** Why a provider gave nothing; thrown through its client, which knows only exceptions. */
export class ProviderFailure extends Error {
  readonly code: Code;
  /** When the limit is over. */
  readonly retryAfterSeconds: number | undefined;
  /** What the provider says of a request that it understood and did not carry out. Foreign text: only for who made the request. */
  readonly providerMessage: string | undefined;

  constructor(
    code: Code,
    reason: string,
    { retryAfterSeconds, providerMessage }: Partial<Pick<ProviderFailure, 'retryAfterSeconds' | 'providerMessage'>> = {},
  ) {
    super(reason);
    this.name = 'ProviderFailure';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.providerMessage = providerMessage;
  }
}

export const PROVIDER_DEADLINE_MS = 15_000;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * `fetch` for the clients of providers: with a deadline, a bound on the answer, no redirect to another server, and one way to say
 * what went wrong.
 */
export function providerFetch(deadlineMs: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init = {}) => {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      const response = await follow(new URL(url), init, signal);
      if (!response.ok) throw await failureFor(response);
      const body = await bounded(response);
      return new Response(response.status === 204 ? null : body, { status: response.status, headers: response.headers });
    } catch (cause) {
      if (cause instanceof ProviderFailure) throw cause;
      if (signal.aborted) throw new ProviderFailure('PROVIDER_FAILED', `it did not answer within ${deadlineMs / 1000} seconds`);
      throw new ProviderFailure('PROVIDER_FAILED', reasonOf(cause));
    }
  };
}

/** A renamed repository is a redirect on the same server; on another server it would receive the token. */
async function follow(url: URL, init: RequestInit, signal: AbortSignal, hops = 3): Promise<Response> {
  const response = await fetch(url, { ...init, signal, redirect: 'manual' });
  const location = response.headers.get('location');
  if (response.status < 300 || response.status >= 400 || location === null) return response;
  await response.body?.cancel();
  const next = new URL(location, url);
  if (next.origin !== url.origin) throw new ProviderFailure('PROVIDER_FAILED', 'it sends to another server');
  if (hops === 0) throw new ProviderFailure('PROVIDER_FAILED', 'it sends in circles');
  return follow(next, init, signal, hops - 1);
}

async function failureFor(response: Response): Promise<ProviderFailure> {
  const { status, headers } = response;
  if (status === 400 || status === 409 || status === 422) {
    return new ProviderFailure('PROVIDER_FAILED', `it answered ${status}`, { providerMessage: await providerWords(response) });
  }
  await response.body?.cancel();
  if (isLimited(response)) return new ProviderFailure('PROVIDER_LIMIT', 'too many requests', { retryAfterSeconds: secondsUntil(headers) });
  if (status === 401 || status === 403) return new ProviderFailure('PROVIDER_REFUSED', `it answered ${status}`);
  if (status === 404) return new ProviderFailure('PROVIDER_NOT_FOUND', 'there is no such thing, or the token may not see it');
  return new ProviderFailure('PROVIDER_FAILED', `it answered ${status}`);
}

/** GitHub names the moment, the others the wait. */
function secondsUntil(headers: Headers): number | undefined {
  const wait = Number(headers.get('retry-after') ?? NaN);
  const reset = Number(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset') ?? NaN);
  const seconds = Number.isFinite(wait) ? wait : reset - Date.now() / 1000;
  return Number.isFinite(seconds) ? Math.min(3600, Math.max(1, Math.ceil(seconds))) : undefined;
}

async function bounded(response: Response): Promise<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MAX_BYTES) throw new ProviderFailure('PROVIDER_FAILED', `its answer is larger than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts)).buffer;
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = (inner as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : 'no answer';
}

const MAX_REFUSAL_BYTES = 16 * 1024;
const MAX_CHARS = 500;

/** Why a provider did not do what it was asked, in its own words: one bounded line, or nothing when it gave none that can be read. */
async function providerWords(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    // What is that long is no explanation; leaving the loop ends the answer.
    if ((size += part.byteLength) > MAX_REFUSAL_BYTES) return undefined;
  }
  try {
    const texts = [...new Set(textsIn(JSON.parse(Buffer.concat(parts).toString('utf8'))))];
    const line = texts
      .join('; ')
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim();
    return line === '' ? undefined : line.slice(0, MAX_CHARS);
  } catch {
    return undefined;
  }
}

/** `{message, errors: [{message}]}` of GitHub, `{message: [text]}` or `{message: {field: [text]}}` of GitLab, `{error: {message}}` of Bitbucket. */
function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return depth > 0 ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  if (Array.isArray(value)) return value.slice(0, 20).flatMap((each) => textsIn(each, depth + 1));
  const { message, errors, error, detail, fields } = value as Readonly<Record<string, unknown>>;
  const known = [message, errors, error, detail, fields].filter((each) => each !== undefined);
  // A field's name says more than its trouble alone.
  if (known.length === 0 && depth > 0)
    return Object.entries(value)
      .slice(0, 20)
      .flatMap(([name, each]) => textsIn(each, depth + 1).map((text) => `${name}: ${text}`));
  return known.flatMap((each) => textsIn(each, depth + 1));
}

/** Whether a provider answered so because it was asked too often. GitHub says that with 403 as well. */
export function isLimited({ status, headers }: Response): boolean {
  return status === 429 || (status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')));
}

export interface ProviderError {
  readonly error: CatalogError;
  readonly retryAfterSeconds: number | undefined;
}

/** Why `provider` gave nothing. What is none of ours is an answer that was not as documented. */
export function providerFailureOf(provider: GitProvider, thrown: unknown): ProviderError {
  const failure = failureIn(thrown);
  if (!failure)
    return { error: catalogError('PROVIDER_FAILED', `${provider}: its answer was not understood`), retryAfterSeconds: undefined };
  const { code, message, retryAfterSeconds } = failure;
  const isOneSentence = code === 'PROVIDER_REFUSED' || code === 'PROVIDER_LIMIT';
  return { error: catalogError(code, isOneSentence ? provider : `${provider}: ${message}`), retryAfterSeconds };
}

/** Ours, wherever the provider's client put it. */
export function failureIn(thrown: unknown): ProviderFailure | undefined {
  for (let cause = thrown, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof ProviderFailure) return cause;
  }
  return undefined;
}
