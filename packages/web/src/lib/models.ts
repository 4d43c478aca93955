import { t } from './language/text.ts';
/** Whether answers of this model are the scripted demonstration; every place that shows them marks them. */
export function isDemoModel(name: string | null | undefined): boolean {
  return name === 'demo' || (name?.startsWith('demo/') ?? false);
}

export function modelLabel(name: string): string {
  return isDemoModel(name) ? t('Demo model') : name;
}

/** The model to begin with, from the letters that a provider's keys start with. A key without a sign of its own means `gpt-4o`. */
export function modelForKey(key: string): string {
  const text = key.trim();
  if (text.startsWith('sk-ant-')) return 'anthropic/claude-sonnet-4-20250514';
  if (text.startsWith('sk-or-')) return 'openrouter/anthropic/claude-sonnet-4';
  if (text.startsWith('AIza')) return 'gemini/gemini-2.5-pro';
  if (text.startsWith('gsk_')) return 'groq/llama-3.3-70b-versatile';
  if (text.startsWith('xai-')) return 'xai/grok-4';
  return 'gpt-4o';
}

interface LocalServer {
  readonly name: string;
  /** Its usual address. */
  readonly address: string;
  /** As the server of Tendon offers them. */
  readonly models: readonly string[];
}

const SERVERS = [
  { prefix: 'ollama/', name: 'Ollama', address: '127.0.0.1:11434' },
  { prefix: 'lm_studio/', name: 'LM Studio', address: '127.0.0.1:1234' },
  { prefix: 'hosted_vllm/', name: 'vLLM', address: '127.0.0.1:8000' },
] as const;

/** The model servers on the server's machine, read off the names that it offers. */
export function localServers(offered: readonly string[]): readonly LocalServer[] {
  return SERVERS.map(({ prefix, name, address }) => ({
    name,
    address,
    models: offered.filter((model) => model.startsWith(prefix)),
  })).filter((server) => server.models.length > 0);
}
