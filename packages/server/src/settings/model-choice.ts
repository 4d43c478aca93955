/**
 * Which model a conversation asks, with which key, at which address.
 *
 * MC1  The server's keys go only to the addresses they were given for: a caller who names another address brings a key of their own.
 * MC2  Most specific first: the conversation's own choice, the stored settings, the environment.
 * MC3  A model that a person names beside the first one is asked with the key and at the address that were given for it, else with those
 *      of the first; never with another key of the server.
 */
import { withStream, type LlmEvent, type LlmProvider, type ReasoningEffort, type ToolCalling } from '@tendon/core';
import type { ChosenBy, ConversationModels } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';
import { askedWith, referenceOf, type ModelConfig, type ModelReference } from '../platform/config/model-config.ts';
import type { OtherModels } from '../conversations/conversation-records.ts';
import type { CreateConversationParams, ModelAccess } from '../conversations/create-conversation-params.ts';
import type { SettingsStore } from './settings.ts';

export interface ModelChoice {
  readonly model: string;
  readonly apiKey: Secret | undefined;
  readonly baseUrl: string | undefined;
  readonly effort: ReasoningEffort | undefined;
  readonly toolCalling: ToolCalling | undefined;
  /** Asked when this one cannot answer; none for a caller who brings an access of their own. */
  readonly fallback: OtherModel | undefined;
  /** Somebody who is no admin named the address: it is asked as the conversation's sandbox could. */
  readonly isPoliced: boolean;
  /** Named by the operator: it may be a script on this machine. */
  readonly isOperators: boolean;
}

/** One beside the first. */
export interface OtherModel extends ModelReference {
  /** Named by the operator: it may be a script on this machine. */
  readonly isOperators: boolean;
}

type Environment = Pick<ModelConfig, 'model' | 'llmApiKey' | 'llmBaseUrl' | 'llmEffort' | 'llmToolCalling' | 'llmFallback' | 'llmSmall'>;

export function chooseModel(
  params: Pick<CreateConversationParams, 'model'> & { readonly llm?: ModelAccess | undefined; readonly others?: OtherModels | undefined },
  settings: SettingsStore,
  environment: Environment,
): ModelChoice {
  const access = params.llm ?? storedAccess(settings) ?? environmentAccess(environment);
  const requested = params.model || settings.current?.llm_model || undefined;
  const fallback = access.apiKey && environment.model === 'demo' ? 'gpt-4o' : environment.model;
  const model = requested ?? fallback;
  const sameAddress = access.baseUrl === undefined || access.baseUrl === environment.llmBaseUrl;
  const reference = {
    model,
    baseUrl: access.baseUrl ?? environment.llmBaseUrl,
    apiKey: access.apiKey ?? (sameAddress ? environment.llmApiKey : undefined),
  };
  const { effort, fallback: second } = chosenOthers(params.others, settings, environment);
  return {
    ...reference,
    effort: effort.value ?? undefined,
    toolCalling: environment.llmToolCalling,
    fallback: params.llm ? undefined : otherModel(second.value, reference, settings.other('fallback'), environment.llmFallback),
    isPoliced:
      params.llm?.baseUrl !== undefined && !params.llm.isAdmins && !sameAddress && params.llm.baseUrl !== settings.current?.llm_base_url,
    isOperators: model === environment.model,
  };
}

/** The model for what needs less; the conversation's own where there is none, or where a caller brings an access of their own. */
export function chooseSmallModel(
  choice: ModelChoice,
  params: { readonly llm?: ModelAccess | undefined; readonly others?: OtherModels | undefined },
  settings: SettingsStore,
  environment: Environment,
): ModelChoice {
  const { small } = chosenOthers(params.others, settings, environment);
  const found = params.llm ? undefined : otherModel(small.value, choice, settings.other('small'), environment.llmSmall);
  return found ? { ...found, effort: undefined, toolCalling: undefined, fallback: undefined, isPoliced: false } : choice;
}

/** What is chosen beside the model, and by whom (MC2). */
export function chosenOthers(
  own: OtherModels | undefined,
  { current }: Pick<SettingsStore, 'current'>,
  { llmEffort, llmFallback, llmSmall }: Environment,
): Omit<ConversationModels, 'model'> {
  return {
    effort: firstOf(own?.effort, current?.llm_effort, llmEffort),
    fallback: firstOf(own?.fallback, current?.llm_fallback_model, llmFallback?.model),
    small: firstOf(own?.small, current?.llm_small_model, llmSmall?.model),
  };
}

function firstOf<T extends string>(own: T | undefined, stored: T | null | undefined, started: T | undefined) {
  const by: ChosenBy = own ? 'conversation' : stored ? 'settings' : started ? 'server' : 'nobody';
  return { value: own || stored || started || null, by };
}

/** One that the settings or the operator named too has the key that was given for it there. */
function otherModel(
  name: string | null,
  main: ModelReference,
  stored: ModelReference | undefined,
  operators: ModelReference | undefined,
): OtherModel | undefined {
  if (name === null) return undefined;
  if (stored?.model === name && (stored.apiKey ?? stored.baseUrl) !== undefined)
    return { ...referenceOf(stored, main), isOperators: false };
  if (operators?.model === name) return { ...operators, isOperators: true };
  return { ...askedWith(name, main), isOperators: false };
}

function storedAccess(settings: SettingsStore): ModelAccess | undefined {
  const apiKey = settings.key('llm_api_key');
  const baseUrl = settings.current?.llm_base_url || undefined;
  return apiKey || baseUrl ? { apiKey, baseUrl } : undefined;
}

function environmentAccess({ llmApiKey, llmBaseUrl }: Pick<Environment, 'llmApiKey' | 'llmBaseUrl'>): ModelAccess {
  return { apiKey: llmApiKey, baseUrl: llmBaseUrl };
}

/** Makes a provider of a choice; `isOutdated`: another one is chosen by now. */
type MakeProvider = (choice: ModelChoice, isOutdated: () => boolean) => Promise<LlmProvider>;

/**
 * Asked before each answer: settings changed while a task runs count from the next turn on, and from the next try of a turn that is
 * waiting for one. An unchanged choice keeps its provider.
 */
export function modelSource(choose: () => ModelChoice, make: MakeProvider): () => Promise<LlmProvider> {
  let made: { readonly choice: ModelChoice; readonly provider: Promise<LlmProvider> } | undefined;
  const latest = () => {
    const choice = choose();
    if (!made || !isSame(made.choice, choice)) made = { choice, provider: make(choice, () => !isSame(choice, choose())) };
    return made;
  };
  return async () =>
    withStream(await latest().provider, async function* (request, options) {
      for (;;) {
        const { choice, provider } = latest();
        let last: LlmEvent['type'] | undefined;
        for await (const event of (await provider).stream(request, options)) {
          last = event.type;
          yield event;
        }
        if (last !== 'retry' || options.signal.aborted || isSame(choice, choose())) return;
      }
    });
}

function isSame(a: ModelChoice, b: ModelChoice): boolean {
  const isSameMain = isSameReference(a, b) && a.isPoliced === b.isPoliced && a.effort === b.effort;
  return isSameMain && (a.fallback && b.fallback ? isSameReference(a.fallback, b.fallback) : a.fallback === b.fallback);
}

function isSameReference(a: ModelReference, b: ModelReference): boolean {
  return a.model === b.model && a.baseUrl === b.baseUrl && a.apiKey?.reveal() === b.apiKey?.reveal();
}
