/**
 * What a client's `initialize` asks for, and the conversation that comes of it: the same for every transport. It does not own which
 * conversation the client has; that is a token's, a socket's or a stored session's matter.
 */
import { findAgent } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { catalogError, type CatalogError, type Decoded } from '@tendon/protocol';
import type { Caller } from '../platform/auth/caller.ts';
import type { CreateConversationParams, ModelAccess } from '../conversations/create-conversation-params.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { CreateResult } from '../conversations/new-conversations.ts';

export type Initialize = Extract<Decoded, { type: 'initialize' }>;
type ParamsResult = { readonly ok: true; readonly params: CreateConversationParams } | { readonly ok: false; readonly error: CatalogError };

export interface ClientSessionOptions {
  readonly conversations: Pick<Conversations, 'configure' | 'create'>;
  /** Whose client it is; addresses that an admin names are asked wherever they are. Default: nobody's. */
  readonly by?: Caller;
  /** The id of the conversation that the client begins; default: a fresh one. */
  readonly beginsAs?: string;
}

export class ClientSession {
  readonly #options: ClientSessionOptions;
  #params: CreateConversationParams = {};

  constructor(options: ClientSessionOptions) {
    this.#options = options;
  }

  /** For the conversation to come; one that there is (`conversationId`) takes its model and key. Returns why it was refused. */
  async initialize(initialize: Initialize, conversationId: string | undefined): Promise<CatalogError | undefined> {
    const { conversations, by } = this.#options;
    const result = paramsFrom(initialize, by?.scope === 'admin');
    if (!result.ok) return result.error;
    this.#params = result.params;
    if (conversationId !== undefined) await conversations.configure(conversationId, result.params);
    return undefined;
  }

  /** Whether to create the conversation at once, which checks a named folder, and reports which agent replaces an unknown one. */
  get wantsAnswerAtOnce(): boolean {
    const { directory, agent } = this.#params;
    return directory !== undefined || findAgent(agent).notice !== undefined;
  }

  /** The conversation that was asked for, or one with defaults. */
  create(): Promise<CreateResult> {
    const { conversations, beginsAs, by } = this.#options;
    return conversations.create({ ...this.#params, by, ...(beginsAs !== undefined && { id: beginsAs }) });
  }
}

/** `isAdmin`: the client may name any address. */
function paramsFrom({ model, directory, agent, settings }: Initialize, isAdmin: boolean): ParamsResult {
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
    params: {
      model,
      directory,
      agent,
      ...(confirmationMode !== undefined && { confirmationMode }),
      ...(maxIterations !== undefined && { maxIterations }),
      ...(Object.keys(llm).length > 0 && { llm }),
    },
  };
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

function refused(detail: string): ParamsResult {
  return { ok: false, error: catalogError('INVALID_ARGUMENTS', detail) };
}

function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
