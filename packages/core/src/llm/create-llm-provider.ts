import { createHash } from 'node:crypto';
import type { Secret } from '@tendon/protocol/masking';
import type { KeyedSemaphore } from '../async/keyed-semaphore.ts';
import type { Clock } from '../async/clock.ts';
import { failure } from './classify-failure.ts';
import { isSigned, loadBedrock, loadVertex, unusable } from './cloud-models.ts';
import { createDemoProvider } from './demo/demo-provider.ts';
import { createLanguageModelProvider } from './language-model-provider.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { withStream, type LlmFailure, type LlmProvider, type ReasoningEffort, type ToolCalling } from './llm-provider.ts';
import { routeModel, type ModelRoute } from './model-name.ts';
import { ModelTraitsBook } from './model-traits.ts';
import { findModel } from './prices.ts';
import { reasoningFields } from './reasoning-fields.ts';
import type { LoadModel } from './request-prefix.ts';
import { createScriptFileProvider } from './script-file.ts';
import { withTextCalls } from './text-calls/with-text-calls.ts';

/** What providers of all conversations share. */
interface ModelServices {
  readonly clock: Clock;
  readonly fetch?: typeof fetch | undefined;
  /** Limits the simultaneous requests to one endpoint; shared by all providers that use it. Default: no limit. */
  readonly places?: KeyedSemaphore | undefined;
  /** For whom it asks: those who wait for a place take turns. Default: all are one. */
  readonly party?: string | undefined;
  /** What endpoints have shown so far, shared by all conversations; default: what this provider learns. */
  readonly traits?: ModelTraitsBook | undefined;
}

export interface CreateLlmProviderOptions extends ModelServices {
  /** litellm's `provider/model`; `demo`; with `allowScripts` also `scripted/<path of a JSON file>`. */
  readonly model: string;
  readonly apiKey?: Secret | undefined;
  /** Any OpenAI-compatible endpoint, or Anthropic's shape for `anthropic/…`. */
  readonly baseUrl?: string | undefined;
  /** Only for a model that the server's own environment names: a client must not make the server read files. */
  readonly allowScripts?: boolean;
  /** How the model is given tools; default `auto`. */
  readonly toolCalling?: ToolCalling | undefined;
  /** How much the model thinks before it answers; default: as its vendor sets it. Not asked of models that are known not to think. */
  readonly effort?: ReasoningEffort | undefined;
  /** Silence after which an endpoint is given up; default 290 s, just below the limit of Node's own HTTP client. */
  readonly silenceMs?: number;
}

/** Anthropic wants a figure. More output than this in one answer is no step of an agent. */
const MAX_OUTPUT_TOKENS = 32_000;

/** The provider of a model. Never throws for a wrong name: such a provider fails each request with the reason. */
export function createLlmProvider(options: CreateLlmProviderOptions): LlmProvider {
  const { model, apiKey, clock, silenceMs = 290_000 } = options;
  if (model === 'demo') return createDemoProvider({ clock });
  if (model.startsWith('scripted/')) {
    if (options.allowScripts) return createScriptFileProvider(model, clock);
    return refusing(model, failure('LLM_NOT_FOUND', model, false));
  }
  const route = routeModel(model, options.baseUrl);
  if (!route) return refusing(model, failure('LLM_NOT_FOUND', model, false));
  if (route.needsKey && !apiKey)
    return refusing(model, failure('LLM_AUTHENTICATION', 'no key is set; give LLM_API_KEY, or choose one in the settings', false));
  const problem = unusable(route, apiKey);
  if (problem !== undefined) return refusing(model, failure('LLM_AUTHENTICATION', problem, false));
  const traits = (options.traits ?? new ModelTraitsBook()).of(route);
  const send = guardedFetch(options.fetch ?? fetch);
  const load = loaders(route, apiKey, send);
  const maxOutputTokens = isClaude(route) ? Math.min(findModel(model)?.maxOutput ?? 8_192, MAX_OUTPUT_TOKENS) : undefined;
  const provider = createLanguageModelProvider({
    model,
    apiKey,
    clock,
    silenceMs,
    load,
    fetch: send,
    isSigned: isSigned(route, apiKey),
    maxOutputTokens,
    replay: route.replay,
    rules: route.rules,
    effort: options.effort,
    traits,
    isFree: !route.needsKey && !options.baseUrl,
  });
  const placed = options.places ? inPlaces(provider, options.places, { baseUrl: route.baseUrl, apiKey, party: options.party }) : provider;
  return withTextCalls(placed, options.toolCalling ?? 'auto', traits);
}

function refusing(model: string, reason: LlmFailure): LlmProvider {
  return {
    model,
    contextWindow: undefined,
    scripted: false,
    async *stream() {
      yield { type: 'failed', failure: reason };
    },
  };
}

/** Without a figure its APIs refuse a request, or cut the answer short. */
function isClaude({ protocol, modelId }: ModelRoute): boolean {
  return protocol === 'anthropic' || ((protocol === 'bedrock' || protocol === 'vertex') && modelId.includes('claude-'));
}

/** The settings always hold a key and an address: without them the packages would read the environment. */
function loaders(route: ModelRoute, apiKey: Secret | undefined, send: typeof fetch): LoadModel[] {
  const { modelId, baseUrl: baseURL } = route;
  const key = apiKey?.reveal() ?? '';
  // Azure reads its own header, which OpenAI does not know.
  const headers: Record<string, string> = route.protocol === 'azure' ? { 'api-key': key } : {};
  const openai = async (fetch: typeof globalThis.fetch) =>
    (await import('@ai-sdk/openai')).createOpenAI({ baseURL, apiKey: key, headers, fetch });
  switch (route.protocol) {
    case 'anthropic':
      return [async (fetch) => (await import('@ai-sdk/anthropic')).createAnthropic({ baseURL, apiKey: key, fetch })(modelId)];
    // The name of a deployment does not show which model it is.
    case 'azure':
      return [async (fetch) => (await openai(fetch)).chat(modelId), async (fetch) => (await openai(fetch)).responses(modelId)];
    case 'openai':
      return inOrder(route, {
        chat: async (fetch) => (await openai(fetch)).chat(modelId),
        responses: async (fetch) => (await openai(fetch)).responses(modelId),
      });
    case 'google':
      return [async (fetch) => (await import('@ai-sdk/google')).createGoogle({ baseURL, apiKey: key, fetch })(modelId)];
    case 'bedrock':
      return [loadBedrock(route, apiKey)];
    case 'vertex':
      return [loadVertex(route, apiKey, send)];
    case 'chat':
      return [
        async (fetch) => {
          const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
          const common = { name: 'openai-compatible', baseURL, fetch, includeUsage: true, metadataExtractor: reasoningFields };
          return createOpenAICompatible({ ...common, ...(apiKey && { apiKey: key }) })(modelId);
        },
      ];
  }
}

/** On chat completions OpenAI's models do not think beside tools: only those that never do are asked there first. */
function inOrder({ modelId }: ModelRoute, { chat, responses }: { readonly chat: LoadModel; readonly responses: LoadModel }): LoadModel[] {
  return findModel(`openai/${modelId}`)?.reasoning === false ? [chat, responses] : [responses, chat];
}

/** An endpoint counts requests by the key that they come with. */
interface Endpoint {
  readonly baseUrl: string;
  readonly apiKey: Secret | undefined;
  readonly party: string | undefined;
}

/**
 * Makes each request in a place of its endpoint and key, and holds it until the stream ends. A request that has to wait reports it first,
 * and again when its turn has come; an abort ends the wait. Pauses between attempts hold no place.
 */
function inPlaces(provider: LlmProvider, places: KeyedSemaphore, { baseUrl, apiKey, party }: Endpoint): LlmProvider {
  // A digest, not the key itself: the name of a place is only compared.
  const key = `${baseUrl} ${createHash('sha256')
    .update(apiKey?.reveal() ?? '')
    .digest('hex')}`;
  return withStream(provider, async function* (request, options) {
    let release = places.tryAcquire(key);
    const waits = release === undefined;
    if (waits) yield { type: 'queued', ahead: places.ahead(key, party), limit: places.limit };
    release ??= await places.acquire(key, options.signal, party);
    if (!release) return;
    try {
      if (waits) yield { type: 'admitted' };
      yield* provider.stream(request, options);
    } finally {
      release();
    }
  });
}
