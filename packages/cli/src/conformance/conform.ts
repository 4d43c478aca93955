import { LEVELS, levelOf, type Check, type Level } from './check.ts';
import { NO_DEVIATIONS, type Deviations } from './deviations.ts';
import { CHECKS } from './levels/index.ts';
import { openTarget } from './open-target.ts';
import type { CheckResult, Conformance } from './result.ts';
import { runChecks } from './run-checks.ts';
import type { Foreign } from './target.ts';
import { startScriptedModel } from './scripted-model.ts';

export interface ConformOptions {
  readonly url: string;
  readonly key?: string;
  readonly levels?: readonly Level[];
  /** Only checks whose id has one of these words. */
  readonly only?: readonly string[];
  readonly deviations?: Deviations;
  readonly parallel?: number;
  readonly patienceMs?: number;
  readonly onResult?: (result: CheckResult) => void;
}

/**
 * Asks a running server everything that its clients rely on. It makes conversations there and removes them, and points the server's
 * settings at a scripted model of its own: use a server made for it. Rejects when the server does not answer at all.
 */
export async function conform(options: ConformOptions): Promise<Conformance> {
  const { url, key, patienceMs = 30_000, parallel = 4 } = options;
  const model = await startScriptedModel();
  try {
    const target = { url, model, patienceMs, ...(key !== undefined && { key }) };
    const server = await greet(target);
    const results = await runChecks(chosen(options), {
      target,
      parallel,
      deviations: options.deviations ?? NO_DEVIATIONS,
      onResult: options.onResult ?? (() => {}),
    });
    return { url, server: options.deviations?.server || server, results };
  } finally {
    await model.close();
  }
}

function chosen({ levels = LEVELS, only }: ConformOptions): readonly Check[] {
  return CHECKS.filter((check) => levels.includes(levelOf(check)) && (!only || only.some((words) => check.id.includes(words))));
}

/** Gives the server its model; what it calls itself. */
async function greet(options: Parameters<typeof openTarget>[0]): Promise<string> {
  const target = openTarget(options);
  const { LLM_MODEL, LLM_API_KEY, LLM_BASE_URL } = target.modelArguments;
  const settings = { language: 'en', agent: 'CodeActAgent', max_iterations: 500, confirmation_mode: false, security_analyzer: null };
  const body = {
    ...settings,
    llm_model: LLM_MODEL,
    llm_api_key: LLM_API_KEY,
    llm_base_url: LLM_BASE_URL,
    user_consents_to_analytics: false,
  };
  const stored = await target.ask('POST', '/api/settings', { body });
  if (stored.status !== 200) throw new Error(`POST /api/settings: ${stored.status} ${stored.text.slice(0, 300)}`);
  const { body: document } = await target.ask('GET', '/openapi.json');
  const { title, version } = (document as Partial<Foreign> | undefined)?.info ?? {};
  return title === undefined ? 'a server' : `${String(title)} ${String(version ?? '')}`.trim();
}
