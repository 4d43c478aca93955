import { REASONING_EFFORTS, splitModelName, TOOL_CALLING, type ReasoningEffort, type ToolCalling } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';
import { CloudEnvironment, withCloudAccount } from './cloud-account.ts';
import { count, flag } from './environment-values.ts';

/** A model that the operator names beside the usual one. */
export interface ModelReference {
  readonly model: string;
  readonly apiKey: Secret | undefined;
  readonly baseUrl: string | undefined;
}

/** The models of conversations that chose none. */
export interface ModelConfig {
  /** litellm's `provider/model`; `demo` when neither a model nor a key is given. */
  readonly model: string;
  readonly llmApiKey: Secret | undefined;
  readonly llmBaseUrl: string | undefined;
  /** How much models think before they answer; undefined: as each vendor sets it. */
  readonly llmEffort: ReasoningEffort | undefined;
  /** How models are given tools; undefined: as their endpoints take them. */
  readonly llmToolCalling: ToolCalling | undefined;
  /** Answers when the model cannot. */
  readonly llmFallback: ModelReference | undefined;
  /** Does what needs less: summaries. */
  readonly llmSmall: ModelReference | undefined;
  /** The maximum number of requests in flight to one endpoint with one key, over all conversations. */
  readonly maxModelRequests: number;
}

const url = z.url({ protocol: /^https?$/, error: 'an http:// or https:// address is expected' });
/** Of any length: endpoints that need none are given a placeholder. */
const key = z.string().transform((value) => new Secret(value));

export const ModelEnvironment = z.object({
  ...CloudEnvironment.shape,
  LLM_MODEL: z.string().optional(),
  LLM_API_KEY: key.optional(),
  LLM_BASE_URL: url.optional(),
  LLM_REASONING_EFFORT: z.enum(REASONING_EFFORTS).optional(),
  LLM_TOOL_CALLING: z.enum(TOOL_CALLING).optional(),
  LLM_NATIVE_TOOL_CALLING: flag.optional(),
  LLM_FALLBACK_MODEL: z.string().optional(),
  LLM_FALLBACK_API_KEY: key.optional(),
  LLM_FALLBACK_BASE_URL: url.optional(),
  LLM_SMALL_MODEL: z.string().optional(),
  LLM_SMALL_API_KEY: key.optional(),
  LLM_SMALL_BASE_URL: url.optional(),
  LLM_MAX_CONCURRENT_REQUESTS: count(1).default(32),
});

type Values = z.output<typeof ModelEnvironment>;

export function modelConfig(values: Values): ModelConfig {
  const main = {
    model: values.LLM_MODEL ?? (values.LLM_API_KEY ? 'gpt-4o' : 'demo'),
    apiKey: values.LLM_API_KEY,
    baseUrl: values.LLM_BASE_URL,
  };
  const { model, apiKey, baseUrl } = withCloudAccount(main, values);
  const beside = ({ model: name, ...access }: OtherModel): ModelReference | undefined =>
    name === undefined ? undefined : withCloudAccount(referenceOf({ model: name, ...access }, main), values);
  return {
    model,
    llmApiKey: apiKey,
    llmBaseUrl: baseUrl,
    llmEffort: values.LLM_REASONING_EFFORT,
    llmToolCalling: values.LLM_TOOL_CALLING ?? nativeOrText(values.LLM_NATIVE_TOOL_CALLING),
    llmFallback: beside({ model: values.LLM_FALLBACK_MODEL, apiKey: values.LLM_FALLBACK_API_KEY, baseUrl: values.LLM_FALLBACK_BASE_URL }),
    llmSmall: beside({ model: values.LLM_SMALL_MODEL, apiKey: values.LLM_SMALL_API_KEY, baseUrl: values.LLM_SMALL_BASE_URL }),
    maxModelRequests: values.LLM_MAX_CONCURRENT_REQUESTS,
  };
}

/** The name of OpenHands knows two of the ways. */
function nativeOrText(isNative: boolean | undefined): ToolCalling | undefined {
  return isNative === undefined ? undefined : isNative ? 'native' : 'text';
}

type OtherModel = Omit<ModelReference, 'model'> & { readonly model: string | undefined };

/** With neither a key nor an address of its own it is asked where the main model is, but no key goes to another vendor's address. */
export function referenceOf({ model, apiKey, baseUrl }: ModelReference, main: ModelReference): ModelReference {
  if (baseUrl !== undefined) return { model, baseUrl, apiKey: apiKey ?? (baseUrl === main.baseUrl ? main.apiKey : undefined) };
  return apiKey ? { model, apiKey, baseUrl } : askedWith(model, main);
}

/** Asked where the main model is, but no key goes to another vendor's address. */
export function askedWith(model: string, main: ModelReference): ModelReference {
  if (main.baseUrl !== undefined) return { model, apiKey: main.apiKey, baseUrl: main.baseUrl };
  const isSameVendor = splitModelName(model).vendor === splitModelName(main.model).vendor;
  return { model, apiKey: isSameVendor ? main.apiKey : undefined, baseUrl: undefined };
}
