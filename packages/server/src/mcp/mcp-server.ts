import type { McpConfig } from '@tendon/protocol';

export interface RemoteMcpServer {
  readonly name: string;
  readonly kind: 'http' | 'sse';
  readonly url: string;
  readonly apiKey?: string;
  readonly callMs: number;
}

/** One MCP server, as the settings name it. `name` is unique among them and part of the names of its tools. */
export type McpServer =
  | RemoteMcpServer
  | {
      readonly name: string;
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly callMs: number;
    };

const MAX_SERVERS = 16;
const CALL_MS = 60_000;
/** What runs in the sandbox may build or fetch something. */
const STDIO_CALL_MS = 5 * 60_000;
const MAX_CALL_MS = 60 * 60_000;

/** The first sixteen of the settings. */
export function mcpServers({ stdio_servers, shttp_servers, sse_servers }: McpConfig): readonly McpServer[] {
  const names = new Set<string>();
  const unique = (given: string): string => {
    const base =
      given
        .replaceAll(/[^A-Za-z0-9-]+/g, '_')
        .replaceAll(/^_+|_+$/g, '')
        .slice(0, 24) || 'server';
    let name = base;
    for (let number = 2; names.has(name); number++) name = `${base}${number}`;
    names.add(name);
    return name;
  };
  const stdio = stdio_servers.map(({ name, ...rest }) => ({ ...rest, name: unique(name), kind: 'stdio', callMs: STDIO_CALL_MS }) as const);
  const remote = (kind: 'http' | 'sse') => (given: string | { url: string; api_key?: string | null | undefined; timeout?: number }) => {
    const { url, api_key, timeout } = typeof given === 'string' ? { url: given } : given;
    const callMs = Math.min(timeout === undefined ? CALL_MS : timeout * 1000, MAX_CALL_MS);
    return { name: unique(hostOf(url)), kind, url, callMs, ...(api_key && { apiKey: api_key }) } as const;
  };
  return [...stdio, ...shttp_servers.map(remote('http')), ...sse_servers.map(remote('sse'))].slice(0, MAX_SERVERS);
}

/** `mcp.example.com` → `example`; `localhost` and numbers stay. */
function hostOf(url: string): string {
  const host = URL.parse(url)?.hostname ?? 'server';
  if (/^[\d.]+$/.test(host)) return host;
  return host.split('.').find((label) => !['mcp', 'www', 'api'].includes(label)) ?? host;
}
