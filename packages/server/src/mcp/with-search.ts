import type { Secret } from '@tendon/core';
import type { McpConfig } from '@tendon/protocol';

/** Tavily's own MCP server. The key goes there and nowhere else; in a sandbox it never is. */
const TAVILY = 'https://mcp.tavily.com/mcp/';

/** With the tools that search the web, for the key that the settings have for it; a server of Tavily's that is named already stays alone. */
export function withSearch(config: McpConfig, key: Secret | undefined): McpConfig {
  const api_key = key?.reveal();
  const isNamed = JSON.stringify([config.shttp_servers, config.sse_servers]).includes('//mcp.tavily.com/');
  if (!api_key?.startsWith('tvly-') || isNamed) return config;
  return { ...config, shttp_servers: [...config.shttp_servers, { url: TAVILY, api_key, timeout: 60 }] };
}
