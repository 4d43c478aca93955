import { catalogError, type ErrorCode } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';
import { UnusableKey } from './cloud-models.ts';
import { WebPageAnswer } from './guarded-fetch.ts';
import type { LlmFailure } from './llm-provider.ts';

interface FailureContext {
  readonly model: string;
  readonly apiKey: Secret | undefined;
  readonly now: Date;
}

/** What is known of a failure, whatever threw it: an HTTP answer, an error inside a stream, or a broken connection. */
interface Symptoms {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** What the provider says, for people. */
  readonly message: string;
  /** The provider's own machine words (`type`, `code`), joined. */
  readonly words: string;
  /** The code of the system call or TLS check that failed. */
  readonly systemCode: string;
}

interface Rule {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly when: (symptoms: Symptoms) => boolean;
}

const says =
  (pattern: RegExp) =>
  ({ message, words }: Symptoms): boolean =>
    pattern.test(words) || pattern.test(message);

/**
 * Read from top to bottom, the first that fits is taken. This is the only place in the engine that reads a provider's prose:
 * providers use one status for several causes (429 for an empty account, 400 for a full window).
 */
const RULES: readonly Rule[] = [
  {
    code: 'LLM_OUT_OF_CREDITS',
    retryable: false,
    when: (s) =>
      s.status === 402 ||
      says(
        /insufficient[_ ](quota|credits?|balance|funds)|credit balance is too low|exceeded your current quota|budget[_ ]?(has been )?exceeded|exceededbudget/i,
      )(s),
  },
  {
    code: 'LLM_CONTEXT_EXCEEDED',
    retryable: false,
    when: (s) =>
      s.status === 413 ||
      says(
        /context_length_exceeded|context[_ ]window|maximum context length|(prompt|input|request) (is |was )?too (long|large)|exceeds? (the |available |maximum )*context|too many (input )?tokens/i,
      )(s),
  },
  { code: 'LLM_RATE_LIMITED', retryable: true, when: (s) => s.status === 429 || /rate_limit|too_many_requests/i.test(s.words) },
  {
    code: 'LLM_CONTENT_POLICY',
    retryable: false,
    when: (s) =>
      /content_policy|content_filter|moderation/i.test(s.words) ||
      says(/content (management )?policy|flagged as potentially|safety system/i)(s),
  },
  { code: 'LLM_AUTHENTICATION', retryable: false, when: (s) => s.status === 401 || /authentication_error|invalid_api_key/i.test(s.words) },
  { code: 'LLM_NOT_FOUND', retryable: false, when: (s) => s.status === 404 || /model_not_found/i.test(s.words) },
  { code: 'LLM_AUTHENTICATION', retryable: false, when: (s) => s.status === 403 || /permission_error/i.test(s.words) },
  {
    code: 'LLM_UNAVAILABLE',
    retryable: true,
    when: (s) => [408, 502, 503, 504, 529].includes(s.status ?? 0) || /overloaded|unavailable/i.test(s.words),
  },
  { code: 'LLM_FAILED', retryable: true, when: (s) => (s.status ?? 0) >= 500 },
  { code: 'LLM_UNAVAILABLE', retryable: false, when: (s) => /^(ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(s.systemCode) },
  { code: 'LLM_UNAVAILABLE', retryable: true, when: (s) => s.systemCode !== '' },
  { code: 'LLM_UNAVAILABLE', retryable: false, when: (s) => s.status !== undefined && s.status >= 300 && s.status < 400 },
  { code: 'LLM_FAILED', retryable: false, when: (s) => s.status !== undefined && s.status >= 400 },
  /** A stream that broke or made no sense: the next one may be whole. */
  { code: 'LLM_FAILED', retryable: true, when: () => true },
];

/** Turns whatever went wrong into one catalogued failure. The key never appears in it. */
export function classifyFailure(error: unknown, context: FailureContext): LlmFailure {
  // Our own fetch throws this before the provider's package reads the response.
  if (error instanceof WebPageAnswer) return failure('LLM_FAILED', error.message, false);
  if (error instanceof UnusableKey) return failure('LLM_AUTHENTICATION', error.message, false);
  const symptoms = readSymptoms(error);
  const rule = RULES.find(({ when }) => when(symptoms))!;
  const retryAfterMs = rule.retryable ? readRetryAfter(symptoms.headers, context.now) : undefined;
  const detail = rule.code === 'LLM_NOT_FOUND' ? context.model : detailOf(symptoms);
  return {
    error: catalogError(rule.code, hideKey(detail, context.apiKey)),
    retryable: rule.retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(rule.code === 'LLM_CONTEXT_EXCEEDED' && windowIn(symptoms.message)),
    ...(refusesTools(symptoms) && { refused: 'tools' }),
  };
}

/** A failure that is found by us, not reported by the provider. */
export function failure(code: ErrorCode, detail: string, retryable: boolean): LlmFailure {
  return { error: catalogError(code, detail), retryable };
}

/** In this order: words about the request come in another order, or before `>`. */
const WINDOWS: readonly RegExp[] = [
  /(?:maximum|available|loaded with) (?:context|prompt|model) (?:length|size|window)\D{0,24}?(\d[\d,_]*)( ?k\b)?/i,
  /(\d[\d,_]*)( ?k)? maximum\b/i,
  /(?:>|<=) ?(\d[\d,_]*)( ?k\b)?/,
  /(?:tokens allowed|token limit|limit)\W{0,4}(\d[\d,_]*)( ?k\b)?/i,
  /context (?:length|window|size)(?: of| is|:)?\W{0,4}(\d[\d,_]*)( ?k\b)?/i,
];

/** The size of the window, where the endpoint says it. */
function windowIn(message: string): { readonly contextWindow?: number } {
  const [, digits = '', k] = WINDOWS.map((pattern) => pattern.exec(message)).find((found) => found !== null) ?? [];
  const tokens = Number(digits.replaceAll(/[,_]/g, '')) * (k ? 1_000 : 1);
  return tokens >= MIN_WINDOW && tokens <= MAX_WINDOW ? { contextWindow: tokens } : {};
}

/** Other figures are no windows. */
const MIN_WINDOW = 512;
const MAX_WINDOW = 100_000_000;

/** 404 is OpenRouter's: no host of the model takes tools. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 404, 422, 500, 501]);

/** That a model takes no tools, in the words of the servers that are known; what names one tool's own schema is another fault. */
function refusesTools({ status, message }: Symptoms): boolean {
  if (!REFUSALS.has(status) || /tools?[.[]\d|schema|v1\/responses/i.test(message)) return false;
  return (
    /\b(?:tools?|tool[ _-]?(?:use|choice|calls?|calling)|function[ _-]?call(?:s|ing)?)\b.{0,60}\b(?:not|n't|un)[ -]?(?:be )?(?:supported|enabled|permitted|available|implemented)/i.test(
      message,
    ) ||
    /(?:not|n't) (?:support|permit|accept|allow|have) .{0,40}\b(?:tools?|tool[ _-](?:use|choice|calls?|calling)|function[ _-]?call(?:s|ing)?)\b/i.test(
      message,
    ) ||
    /no endpoints found that support tool|enable-auto-tool-choice|tools param requires|un(?:supported|known|recogni[sz]ed) (?:param(?:eter)?|field|request argument)[^.]{0,30}\btools?\b/i.test(
      message,
    )
  );
}

const MAX_DETAIL = 300;

function detailOf({ status, message, systemCode }: Symptoms): string {
  const text = message.replaceAll(/\s+/g, ' ').trim();
  const parts = [
    status === undefined ? '' : `HTTP ${status}`,
    text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL).toWellFormed()}…` : text,
  ];
  if (systemCode !== '' && !text.includes(systemCode)) parts.push(systemCode);
  return parts.filter(Boolean).join(', ') || 'no reason was given';
}

/** By value, and by the shapes in which providers repeat a key that they refuse. */
function hideKey(text: string, apiKey: Secret | undefined): string {
  const masked = apiKey ? text.replaceAll(apiKey.reveal(), '***') : text;
  return masked.replaceAll(/\b(sk|pk|key|gsk|xai|AIza)[-_]?[\w*-]{8,}/g, '***').replaceAll(/\bBearer\s+\S+/gi, 'Bearer ***');
}

function readSymptoms(error: unknown): Symptoms {
  const chain = causes(error);
  const http = chain.find((link) => typeof link.statusCode === 'number');
  const body =
    parsed(http?.responseBody) ??
    (isObject(http?.data) ? http.data : undefined) ??
    (chain[0] && !(error instanceof Error) ? chain[0] : undefined);
  const reported = isObject(body?.error)
    ? body.error
    : isObject(chain[0]?.data) && isObject(chain[0].data.error)
      ? chain[0].data.error
      : (body ?? {});
  // A success whose body broke off: the package says only that it failed to read it, the cause says why.
  const isBroken = http !== undefined && Number(http.statusCode) < 300;
  const own = (isBroken ? chain.slice(1) : [http, ...chain])
    .map((link) => link?.message)
    .find((message): message is string => typeof message === 'string' && message !== '');
  const system = chain.map(({ code }) => code).find((code): code is string => typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code));
  return {
    status: http && !isBroken ? Number(http.statusCode) : undefined,
    headers: isObject(http?.responseHeaders) ? (http.responseHeaders as Record<string, string>) : {},
    message:
      typeof reported.message === 'string'
        ? reported.message
        : typeof body?.error === 'string'
          ? body.error
          : (own ?? (typeof error === 'string' ? error : '')),
    words: [reported.type, reported.code, reported.status].filter((word) => typeof word === 'string').join(' '),
    systemCode: system ?? '',
  };
}

/** The error and what caused it, at most five deep. */
function causes(error: unknown): Record<string, unknown>[] {
  const chain: Record<string, unknown>[] = [];
  for (let link = error; isObject(link) && chain.length < 5; link = link.cause) chain.push(link);
  return chain;
}

function parsed(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/**
 * Milliseconds that a provider asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date.
 * Undefined when it says nothing, or nothing that can be read. Never negative.
 * @internal
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: Date): number | undefined {
  const ms = Number(headers['retry-after-ms'] || Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const text = headers['retry-after']?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : Math.ceil(seconds * 1_000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
