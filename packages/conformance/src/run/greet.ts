import { offerOf, type Offer } from './offer.ts';
import { openTarget, type TargetOptions } from '../target/open-target.ts';
import type { Answer, Target } from '../target/target.ts';

export interface Greeted {
  /** What the server calls itself. */
  readonly name: string;
  readonly offer: Offer;
}

/** Gives the server its model. Rejects, with what to do, when it is not there or is no agent server. */
export async function greet(options: TargetOptions): Promise<Greeted> {
  const target = openTarget(options);
  const { LLM_MODEL, LLM_API_KEY, LLM_BASE_URL } = target.modelArguments;
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
      name === 'TimeoutError' ? `it said nothing for ${target.patienceMs / 1000} s` : cause instanceof Error ? cause.message : message;
    throw new Error(`${target.url} does not answer: ${oneLine(why)}`, { cause: error });
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 120);
}
