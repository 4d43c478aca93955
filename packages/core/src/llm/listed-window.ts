import { startDeadline } from '../async/deadline.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { ModelRoute } from './model-name.ts';
import type { CreateLlmProviderOptions } from './create-llm-provider.ts';

const MAX_LIST_BYTES = 8_000_000;
const DEADLINE_MS = 10_000;
/** As LM Studio, llama.cpp, vLLM, OpenRouter, Ollama, Mistral and Groq name it; what is loaded counts more than what the model could take. */
const FIELDS = ['loaded_context_length', 'n_ctx', 'max_model_len', 'context_length', 'max_context_length', 'context_window'];

type Options = Pick<CreateLlmProviderOptions, 'apiKey' | 'fetch' | 'clock'> & { readonly signal: AbortSignal };

/** The window in tokens that an OpenAI-compatible endpoint lists for the model; undefined where it lists none. Never rejects. */
export async function listedWindow(route: ModelRoute, options: Options): Promise<number | undefined> {
  if (route.protocol !== 'chat') return undefined;
  const url = new URL(route.baseUrl);
  // Ollama lists what it has loaded, with the window that it was loaded with, and LM Studio its own figures, beside the API of OpenAI.
  for (const list of [`${route.baseUrl}/models`, `${url.origin}/api/ps`, `${url.origin}/api/v0/models`]) {
    const window = windowIn(await read(list, options), route.modelId);
    if (window !== undefined) return window;
    // Only a machine of one's own is asked at more than the address that was given.
    if (!isLocal(url)) return undefined;
  }
  return undefined;
}

function isLocal({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

async function read(url: string, { apiKey, fetch: send = fetch, clock, signal }: Options): Promise<unknown> {
  using deadline = startDeadline(clock, DEADLINE_MS);
  try {
    const stop = AbortSignal.any([signal, deadline.signal]);
    const headers = apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : undefined;
    const response = await guardedFetch(send, MAX_LIST_BYTES)(url, { ...(headers && { headers }), signal: stop });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined; // what is not listed is not known
  }
}

type Fields = Readonly<Record<string, unknown>>;

function windowIn(list: unknown, modelId: string): number | undefined {
  const { data, models } = isFields(list) ? list : {};
  const entries = (Array.isArray(data) ? data : Array.isArray(models) ? models : []).filter(isFields);
  const entry = entries.find(({ id, model, name }) => [id, model, name].includes(modelId));
  if (!entry) return undefined;
  const fields: Fields = { ...entry, ...(isFields(entry.meta) ? entry.meta : {}) };
  return FIELDS.map((name) => fields[name]).find((size): size is number => Number.isSafeInteger(size) && (size as number) > 0);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
