import { failureText } from '@tendon/protocol';

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** JSON, or a form for uploads. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** The answer is a file: its bytes, unread. */
  readonly asBlob?: boolean;
  /** Identifies the request: repeated with the same key, it has its effect once. */
  readonly idempotencyKey?: string;
  /** For what takes longer than other requests. */
  readonly timeoutMs?: number;
}

/** Answers the parsed body. Rejects with `ApiError`, also on a deadline; with the signal's own reason when the caller aborted. */
export type Request = <T>(path: string, options?: RequestOptions) => Promise<T>;

export interface RequestConfig {
  readonly baseUrl: string;
  readonly apiKey: () => string | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
}

/** Of files, which may be large and the way slow. */
const TRANSFER_MS = 30 * 60_000;

export function createRequest(config: RequestConfig): Request {
  return async <T>(path: string, options: RequestOptions = {}): Promise<T> => {
    const isTransfer = options.asBlob || options.body instanceof FormData;
    const timeoutMs = options.timeoutMs ?? (isTransfer ? Math.max(TRANSFER_MS, config.timeoutMs) : config.timeoutMs);
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
    let response: Response;
    let body: unknown;
    try {
      response = await config.fetch(urlOf(config.baseUrl, path, options.query), { ...bodyOf(options, config.apiKey()), signal });
      body = options.asBlob && response.ok ? await response.blob() : parse(await response.text());
    } catch {
      if (options.signal?.aborted) throw options.signal.reason;
      if (deadline.aborted) throw new ApiError(0, `No answer in ${timeoutMs / 1000} s`, '', true);
      throw new ApiError(0, `Could not reach ${hostOf(config.baseUrl)}`);
    }
    if (!response.ok) throw apiErrorFrom(response.status, body);
    return body as T;
  };
}

/** The same requests, given up when the signal is aborted. */
export function withSignal(request: Request, signal: AbortSignal): Request {
  return (path, options = {}) => request(path, { ...options, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal });
}

export function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}

function urlOf(baseUrl: string, path: string, query: RequestOptions['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const text = search.toString();
  return `${baseUrl}${path}${text && `?${text}`}`;
}

function bodyOf(options: RequestOptions, apiKey: string | undefined): RequestInit {
  const headers: Record<string, string> = {
    accept: 'application/json',
    // A page of another origin cannot send it, so a cookie that comes with it was meant.
    'x-tendon-request': '1',
    ...(apiKey && { 'x-session-api-key': apiKey }),
    ...(options.idempotencyKey && { 'idempotency-key': options.idempotencyKey }),
  };
  const method = options.method ?? 'GET';
  if (options.body === undefined) return { method, headers };
  if (options.body instanceof FormData) return { method, headers, body: options.body };
  return { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(options.body) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What went wrong, for a program to decide by. `server`: it failed, or something between. */
export type ApiErrorReason =
  | 'unreachable'
  | 'timeout'
  | 'key'
  | 'not-allowed'
  | 'not-found'
  | 'conflict'
  | 'invalid'
  | 'rate-limited'
  | 'server';

const REASONS: Readonly<Record<number, ApiErrorReason>> = {
  401: 'key',
  403: 'not-allowed',
  404: 'not-found',
  409: 'conflict',
  429: 'rate-limited',
};

/** A request that the server refused, or that never reached it (`status` 0). `message` is the server's own words where it gave some. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Id for clients that translate, e.g. `CONFIGURATION$SETTINGS_NOT_FOUND`; empty when the server gave none. */
  readonly messageId: string;
  readonly reason: ApiErrorReason;

  constructor(status: number, message: string, messageId = '', isLate = false) {
    super(message);
    this.status = status;
    const other = status >= 500 ? 'server' : 'invalid';
    this.reason = status === 0 ? (isLate ? 'timeout' : 'unreachable') : (REASONS[status] ?? other);
    this.messageId = messageId;
  }
}

/** The words of an error body in any of the shapes that servers of these generations use. */
function apiErrorFrom(status: number, body: unknown): ApiError {
  const { msg_id: id } = Object(body) as { readonly msg_id?: unknown };
  return new ApiError(status, failureText(body) ?? `The server answered ${status}`, typeof id === 'string' ? id : '');
}
