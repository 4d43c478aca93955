import { findAgent, Secret } from '@tendon/core';
import { catalogError, type CatalogError, type Decoded } from '@tendon/protocol';
import type { ConversationWish, ModelAccess } from './conversation-wish.ts';

type Initialize = Extract<Decoded, { type: 'initialize' }>;
export type WishResult = { readonly ok: true; readonly wish: ConversationWish } | { readonly ok: false; readonly error: CatalogError };

/** What an `initialize` frame wishes of the conversation to come; `isAdmin`: who sent it may name any address. */
export function wishFrom({ model, directory, agent, settings }: Initialize, isAdmin: boolean): WishResult {
  const { LLM_API_KEY: key, LLM_BASE_URL: baseUrl } = settings;
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) return refused('LLM_BASE_URL is not an http(s) address');
  const llm: ModelAccess = {
    ...(typeof key === 'string' && { apiKey: new Secret(key) }),
    ...(isHttpUrl(baseUrl) && { baseUrl, isAdmins: isAdmin }),
  };
  const confirmationMode = flag(settings.CONFIRMATION_MODE);
  const maxIterations = count(settings.MAX_ITERATIONS);
  return {
    ok: true,
    wish: {
      model,
      directory,
      agent,
      ...(confirmationMode !== undefined && { confirmationMode }),
      ...(maxIterations !== undefined && { maxIterations }),
      ...(Object.keys(llm).length > 0 && { llm }),
    },
  };
}

/** Whether to create the conversation at once, which checks a named folder, and reports which agent replaces an unknown one. */
export function wantsAnswerAtOnce({ directory, agent }: ConversationWish): boolean {
  return directory !== undefined || findAgent(agent).notice !== undefined;
}

/** Old frontends send everything as text. */
function flag(value: unknown): boolean | undefined {
  const text = String(value).toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function count(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

function refused(detail: string): WishResult {
  return { ok: false, error: catalogError('INVALID_ARGUMENTS', detail) };
}

function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
