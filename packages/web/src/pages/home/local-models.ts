export interface LocalServer {
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
