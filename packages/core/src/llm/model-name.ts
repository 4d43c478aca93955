import type { ReplayStyle } from './reasoning-replay.ts';

/**
 * litellm's model names: `provider/model`, or a bare name whose provider is known. Where a name leads is data, not code.
 */
export interface ModelRoute {
  /** `openai`: the official API. `google`: Gemini's own; `vertex`: the same and Claude's, of Google's cloud. `chat`: any OpenAI-compatible chat completions endpoint. */
  readonly protocol: 'openai' | 'azure' | 'anthropic' | 'google' | 'bedrock' | 'vertex' | 'chat';
  /** As the endpoint knows it. */
  readonly modelId: string;
  readonly baseUrl: string;
  readonly needsKey: boolean;
  readonly replay: ReplayStyle;
  readonly rules: RequestRules;
}

/**
 * What an endpoint refuses in a request.
 * - `usual`: ids of anything but letters, digits, `_` and `-`.
 * - `mistral`: ids that are not nine letters and digits, and a word of the user directly after a result.
 * - `inline`: as usual, and pictures that are only named by their address.
 * - `bedrock`: as `inline`, and for most models marks of the cache, which have another name there.
 */
export type RequestRules = 'usual' | 'mistral' | 'inline' | 'bedrock';

interface Vendor {
  readonly protocol: ModelRoute['protocol'];
  /** Default address; undefined: the user must give one. */
  readonly baseUrl?: string;
  /** A path that users leave out of the address of such an endpoint. */
  readonly defaultPath?: string;
  /** Addresses of users, as host and path, at which its own API is spoken; a gateway is asked for chat completions. */
  readonly ownAt?: RegExp;
  readonly local?: true;
  /** Default `as-sent`. */
  readonly replay?: ReplayStyle;
  /** Default `usual`. */
  readonly rules?: RequestRules;
}

const ANYWHERE = /^/;

/** litellm's prefixes. Any other name works too, with a base URL: it is sent in full to an OpenAI-compatible endpoint. */
const VENDORS: Readonly<Record<string, Vendor>> = {
  openai: { protocol: 'openai', baseUrl: 'https://api.openai.com/v1' },
  /** A deployment, at the address of a resource. */
  azure: { protocol: 'azure', defaultPath: '/openai/v1', ownAt: ANYWHERE },
  // A region's Converse API; with a path, that of its OpenAI-compatible one or of a proxy.
  bedrock: { protocol: 'bedrock', ownAt: /^[^/]+\/$/, rules: 'bedrock' },
  anthropic: { protocol: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', defaultPath: '/v1', ownAt: ANYWHERE },
  openhands: { protocol: 'chat', baseUrl: 'https://llm-proxy.app.all-hands.dev/v1', defaultPath: '/v1' },
  litellm_proxy: { protocol: 'chat' },
  gemini: { protocol: 'google', baseUrl: 'https://generativelanguage.googleapis.com/v1beta', replay: 'signed-calls' },
  vertex_ai: {
    protocol: 'vertex',
    baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google',
    ownAt: /^(?:[^/]*[.-])?aiplatform\.(?:[a-z]+\.rep\.)?googleapis\.com\//,
    replay: 'signed-calls',
  },
  mistral: { protocol: 'chat', baseUrl: 'https://api.mistral.ai/v1', replay: 'none', rules: 'mistral' },
  groq: { protocol: 'chat', baseUrl: 'https://api.groq.com/openai/v1', replay: 'none' },
  xai: { protocol: 'chat', baseUrl: 'https://api.x.ai/v1' },
  deepseek: { protocol: 'chat', baseUrl: 'https://api.deepseek.com/v1', replay: 'text-with-calls' },
  openrouter: { protocol: 'chat', baseUrl: 'https://openrouter.ai/api/v1' },
  together_ai: { protocol: 'chat', baseUrl: 'https://api.together.xyz/v1' },
  fireworks_ai: { protocol: 'chat', baseUrl: 'https://api.fireworks.ai/inference/v1' },
  cerebras: { protocol: 'chat', baseUrl: 'https://api.cerebras.ai/v1', replay: 'none' },
  huggingface: { protocol: 'chat', baseUrl: 'https://router.huggingface.co/v1' },
  moonshot: { protocol: 'chat', baseUrl: 'https://api.moonshot.ai/v1', replay: 'text-with-calls' },
  zai: { protocol: 'chat', baseUrl: 'https://api.z.ai/api/paas/v4' },
  vercel_ai_gateway: { protocol: 'chat', baseUrl: 'https://ai-gateway.vercel.sh/v1' },
  ollama: { protocol: 'chat', baseUrl: 'http://127.0.0.1:11434/v1', defaultPath: '/v1', local: true },
  ollama_chat: { protocol: 'chat', baseUrl: 'http://127.0.0.1:11434/v1', defaultPath: '/v1', local: true },
  lm_studio: { protocol: 'chat', baseUrl: 'http://127.0.0.1:1234/v1', defaultPath: '/v1', local: true },
  hosted_vllm: { protocol: 'chat', baseUrl: 'http://127.0.0.1:8000/v1', defaultPath: '/v1', local: true },
};

const CLAUDE_OF_VERTEX = { replay: 'as-sent', rules: 'inline' } as const;

/** Bare names whose provider is plain from the name, as litellm reads them. */
const BARE: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|o\d|chatgpt-|codex-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'gemini'],
  [/^deepseek-/, 'deepseek'],
  [/^grok-/, 'xai'],
];

/** The vendor and the vendor's own id of a model; the vendor is undefined when the name does not show it. */
export function splitModelName(model: string): { readonly vendor: string | undefined; readonly modelId: string } {
  const slash = model.indexOf('/');
  const prefix = slash < 0 ? undefined : model.slice(0, slash);
  if (prefix !== undefined && Object.hasOwn(VENDORS, prefix)) return { vendor: prefix, modelId: model.slice(slash + 1) };
  if (prefix !== undefined) return { vendor: undefined, modelId: model };
  return { vendor: BARE.find(([pattern]) => pattern.test(model))?.[1], modelId: model };
}

/**
 * Where a model's requests go. `baseUrl` is the user's own, else the vendor's.
 * Undefined when the name does not show who offers the model, or the address is none.
 */
export function routeModel(model: string, baseUrl: string | undefined): ModelRoute | undefined {
  const { vendor: name, modelId } = splitModelName(model);
  const vendor = name === undefined ? undefined : VENDORS[name];
  if (modelId === '') return undefined;
  // What Claude takes and signs does not change with the cloud that it runs in.
  const isClaudes = vendor?.protocol === 'vertex' && modelId.startsWith('claude-');
  const { replay = 'as-sent', rules = 'usual' } = isClaudes ? CLAUDE_OF_VERTEX : (vendor ?? {});
  if (!baseUrl) {
    if (vendor?.baseUrl === undefined) return undefined;
    return { protocol: vendor.protocol, modelId, baseUrl: vendor.baseUrl, needsKey: !vendor.local, replay, rules };
  }
  const url = URL.parse(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const addedPath = url.pathname === '/' ? (vendor?.defaultPath ?? '') : '';
  const protocol = vendor?.ownAt?.test(url.hostname + url.pathname) ? vendor.protocol : 'chat';
  return { protocol, modelId, baseUrl: baseUrl.replace(/\/+$/, '') + addedPath, needsKey: false, replay, rules };
}
