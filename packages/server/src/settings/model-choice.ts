/**
 * Which model a conversation asks, with which key, at which address.
 *
 * M1  The server's keys go only to the addresses they were given for: a caller who names another address brings a key of their own.
 * M2  Most specific first: the conversation's own choice, the stored settings, the environment.
 */
import type { LlmProvider, ReasoningEffort, ToolCalling } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { ModelConfig, ModelReference } from '../platform/config/model-config.ts';
import type { CreateConversationParams, ModelAccess } from '../conversations/create-conversation-params.ts';
import type { SettingsStore } from './settings.ts';

export interface ModelChoice {
  readonly model: string;
  readonly apiKey: Secret | undefined;
  readonly baseUrl: string | undefined;
  readonly effort: ReasoningEffort | undefined;
  readonly toolCalling: ToolCalling | undefined;
  /** The operator's, asked when this one cannot answer; none for a caller who brings an access of their own. */
  readonly fallback: ModelReference | undefined;
  /** Somebody who is no admin named the address: it is asked as the conversation's sandbox could. */
  readonly isPoliced: boolean;
  /** Named by the operator: it may be a script on this machine. */
  readonly isOperators: boolean;
}

type Environment = Pick<ModelConfig, 'model' | 'llmApiKey' | 'llmBaseUrl' | 'llmEffort' | 'llmToolCalling' | 'llmFallback' | 'llmSmall'>;

export function chooseModel(
  params: Pick<CreateConversationParams, 'model'> & { readonly llm?: ModelAccess | undefined },
  settings: SettingsStore,
  environment: Environment,
): ModelChoice {
  const access = params.llm ?? storedAccess(settings) ?? environmentAccess(environment);
  const requested = params.model || settings.current?.llm_model || undefined;
  const fallback = access.apiKey && environment.model === 'demo' ? 'gpt-4o' : environment.model;
  const model = requested ?? fallback;
  const sameAddress = access.baseUrl === undefined || access.baseUrl === environment.llmBaseUrl;
  return {
    model,
    baseUrl: access.baseUrl ?? environment.llmBaseUrl,
    effort: environment.llmEffort,
    toolCalling: environment.llmToolCalling,
    fallback: params.llm ? undefined : environment.llmFallback,
    apiKey: access.apiKey ?? (sameAddress ? environment.llmApiKey : undefined),
    isPoliced:
      params.llm?.baseUrl !== undefined && !params.llm.isAdmins && !sameAddress && params.llm.baseUrl !== settings.current?.llm_base_url,
    isOperators: model === environment.model,
  };
}

/** The operator's model for what needs less; the conversation's own where there is none, or where a caller brings an access of their own. */
export function chooseSmallModel(choice: ModelChoice, hasOwnAccess: boolean, { llmSmall }: Pick<Environment, 'llmSmall'>): ModelChoice {
  if (!llmSmall || hasOwnAccess) return choice;
  return { ...llmSmall, effort: undefined, toolCalling: undefined, fallback: undefined, isPoliced: false, isOperators: true };
}

function storedAccess(settings: SettingsStore): ModelAccess | undefined {
  const apiKey = settings.key('llm_api_key');
  const baseUrl = settings.current?.llm_base_url || undefined;
  return apiKey || baseUrl ? { apiKey, baseUrl } : undefined;
}

function environmentAccess({ llmApiKey, llmBaseUrl }: Pick<Environment, 'llmApiKey' | 'llmBaseUrl'>): ModelAccess {
  return { apiKey: llmApiKey, baseUrl: llmBaseUrl };
}

/** Asked before each answer: settings changed while a task runs count from the next turn on. An unchanged choice keeps its provider. */
export function modelSource(choose: () => ModelChoice, make: (choice: ModelChoice) => Promise<LlmProvider>): () => Promise<LlmProvider> {
  let made: { readonly choice: ModelChoice; readonly provider: Promise<LlmProvider> } | undefined;
  return () => {
    const choice = choose();
    if (!made || !isSame(made.choice, choice)) made = { choice, provider: make(choice) };
    return made.provider;
  };
}

function isSame(a: ModelChoice, b: ModelChoice): boolean {
  return a.model === b.model && a.baseUrl === b.baseUrl && a.isPoliced === b.isPoliced && a.apiKey?.reveal() === b.apiKey?.reveal();
}
