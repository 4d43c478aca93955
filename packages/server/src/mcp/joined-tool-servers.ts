import type { McpConfig } from '@tendon/protocol';
import { urlOf } from '../settings/mcp-keys.ts';

/** Those of the configuration, then those of the settings; who is named in both is asked once, as the configuration has it. */
export function joinedToolServers(configured: McpConfig | undefined, settings: McpConfig): McpConfig {
  if (!configured) return settings;
  return {
    stdio_servers: joined(configured.stdio_servers, settings.stdio_servers, ({ command, args }) => JSON.stringify([command, args])),
    shttp_servers: joined(configured.shttp_servers, settings.shttp_servers, urlOf),
    sse_servers: joined(configured.sse_servers, settings.sse_servers, urlOf),
  };
}

function joined<S>(first: readonly S[], second: readonly S[], nameOf: (server: S) => string): S[] {
  const named = new Set(first.map(nameOf));
  return [...first, ...second.filter((server) => !named.has(nameOf(server)))];
}
