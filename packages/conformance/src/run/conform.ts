import { LEVELS, levelOf, type Check, type Level, type CheckResult, type Conformance } from '../check.ts';
import { NO_DEVIATIONS, type Deviations } from './deviations.ts';
import { CHECKS } from '../levels/index.ts';
import { runChecks, offerOf, type Offer } from './run-checks.ts';
import { startScriptedModel } from '../model/scripted-model.ts';
import { openTarget, type TargetOptions } from '../target/open-target.ts';
import type { Answer, ServerUnderTest, Target } from '../target/target.ts';

/** Without `silenceSeconds` the server is taken to hand commands back after the time that servers of this kind ship with. */
export interface ConformOptions
  extends Pick<ServerUnderTest, 'url' | 'key'>, Partial<Pick<ServerUnderTest, 'timeoutMs' | 'silenceSeconds'>> {
  readonly levels?: readonly Level[];
  /** Only checks with one of these ids, or with one of these words in theirs. */
  readonly only?: readonly string[];
  readonly deviations?: Deviations;
  readonly parallel?: number;
  readonly onResult?: (result: CheckResult) => void;
}

/** How long a command may print nothing before it is handed back. */
const SHIPPED_SILENCE_SECONDS = 10;

/**
 * Asks a running server everything that its clients rely on. It makes conversations there and removes them, and points the server's
 * settings at a scripted model of its own: use a server made for it. Rejects when the server does not answer at all.
 */
export async function conform(options: ConformOptions): Promise<Conformance> {
  const { url, key, timeoutMs = 30_000, silenceSeconds = SHIPPED_SILENCE_SECONDS, parallel = 4 } = options;
  const model = await startScriptedModel();
  try {
    const target = { url, model, timeoutMs, silenceSeconds, ...(key !== undefined && { key }) };
    const { name, offer } = await greet(target);
    const results = await runChecks(chosen(options), {
      target,
      offer,
      parallel,
      deviations: options.deviations ?? NO_DEVIATIONS,
      onResult: options.onResult ?? (() => {}),
    });
    return { url, server: options.deviations?.server || name, results };
  } finally {
    await model.close();
  }
}

function chosen({ levels = LEVELS, only }: ConformOptions): readonly Check[] {
  const isNamed = only && named(only);
  return CHECKS.filter((check) => levels.includes(levelOf(check)) && (!isNamed || isNamed(check)));
}

/** A whole id means that check alone, though others begin like it. */
function named(only: readonly string[]): (check: Check) => boolean {
  const ids = new Set(CHECKS.map(({ id }) => id));
  const words = only.filter((word) => !ids.has(word));
  return ({ id }) => only.includes(id) || words.some((word) => id.includes(word));
}

interface Greeting {
  /** What the server calls itself. */
  readonly name: string;
  readonly offer: Offer;
}

/** Gives the server its model. Rejects, with what to do, when it is not there or is no agent server. */
async function greet(options: TargetOptions): Promise<Greeting> {
  const target = openTarget(options);
  const { LLM_MODEL, LLM_API_KEY, LLM_BASE_URL } = target.model.initializeArgs;
  const settings = { language: 'en', agent: 'CodeActAgent', max_iterations: 500, confirmation_mode: false, security_analyzer: null };
  const model = { llm_model: LLM_MODEL, llm_api_key: LLM_API_KEY, llm_base_url: LLM_BASE_URL, user_consents_to_analytics: false };
  const stored = await asked(target, 'POST', '/api/settings', { ...settings, ...model });
  if (/html/.test(stored.headers.get('content-type') ?? ''))
    throw new Error(`${options.url} answers with a page where an agent server answers with JSON. Is this its address?`);
  if (stored.status === 401 || stored.status === 403)
    throw new Error(`${options.url} refuses the ${options.key === undefined ? 'suite: give its key with --key' : 'given key'}.`);
  if (stored.status !== 200)
    throw new Error(`${options.url} does not take settings: POST /api/settings is ${stored.status} ${oneLine(stored.text)}`);
  const { body: document } = await asked(target, 'GET', '/openapi.json');
  const { title, version } = document.info ?? {};
  const name = title === undefined ? 'a server' : `${String(title)} ${String(version ?? '')}`.trim();
  return { name, offer: offerOf(document, options.key !== undefined) };
}

async function asked(target: Target, method: string, path: string, body?: object): Promise<Answer> {
  try {
    return await target.ask(method, path, body && { body });
  } catch (error) {
    const { name, message, cause } = error as Error;
    const why =
      name === 'TimeoutError'
        ? `it answered nothing for ${target.server.timeoutMs / 1000} s`
        : cause instanceof Error
          ? cause.message
          : message;
    throw new Error(`${target.server.url} does not answer: ${oneLine(why)}`, { cause: error });
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 120);
}
