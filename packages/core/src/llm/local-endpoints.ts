/** A model server on this machine. */
export interface LocalEndpoint {
  readonly name: string;
  /** For LLM_BASE_URL. */
  readonly baseUrl: string;
  /** For LLM_MODEL, as the endpoint lists them. */
  readonly models: readonly string[];
}

const KNOWN = [
  { name: 'Ollama', port: 11_434, prefix: 'ollama' },
  { name: 'LM Studio', port: 1_234, prefix: 'lm_studio' },
  { name: 'llama.cpp', port: 8_080, prefix: 'openai' },
  { name: 'vLLM', port: 8_000, prefix: 'hosted_vllm' },
] as const;

const MAX_BYTES = 1_000_000;
const MAX_MODELS = 100;

/**
 * Model servers that answer on their usual ports of 127.0.0.1. They are offered to the user, never chosen.
 * `signal` should carry a deadline of a few hundred milliseconds; what has not answered by then is not there.
 */
export async function findLocalEndpoints(options: {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly known?: readonly { readonly name: string; readonly port: number; readonly prefix: string }[];
}): Promise<readonly LocalEndpoint[]> {
  const found = await Promise.all((options.known ?? KNOWN).map((endpoint) => probe(endpoint, options)));
  return found.filter((endpoint) => endpoint !== undefined);
}

async function probe(
  { name, port, prefix }: { readonly name: string; readonly port: number; readonly prefix: string },
  { fetch: send, signal }: { readonly fetch: typeof fetch; readonly signal: AbortSignal },
): Promise<LocalEndpoint | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  try {
    const response = await send(`${baseUrl}/models`, { signal, redirect: 'manual' });
    if (!response.ok || Number(response.headers.get('content-length') ?? 0) > MAX_BYTES) return undefined;
    const models = readModels(await response.json());
    return models && { name, baseUrl, models: models.map((id) => `${prefix}/${id}`) };
  } catch {
    return undefined; // nothing there, or something else: either way no model server
  }
}

/** Undefined when the answer is not a list of models: other programs use these ports too. */
function readModels(body: unknown): string[] | undefined {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined;
  if (!Array.isArray(data)) return undefined;
  const ids = data.map((model: unknown) => (typeof model === 'object' && model !== null && 'id' in model ? model.id : undefined));
  return ids.filter((id): id is string => typeof id === 'string' && id !== '').slice(0, MAX_MODELS);
}
