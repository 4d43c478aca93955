import type { Clock, ExternalTools, Runtimes } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { McpConfig } from '@tendon/protocol';
import type { SandboxPool } from '@tendon/runtime';
import type { ConversationConfig } from '../platform/config/config.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { CustomTools } from '../extensions/custom-tools.ts';
import type { Plugin } from '../extensions/read-plugin.ts';
import { offeredPullRequests } from '../git/pull-requests/offered-pull-requests.ts';
import { PULL_REQUEST_NAMES } from '../git/pull-requests/pull-request-names.ts';
import type { PullRequestParts } from '../git/pull-requests/open-pull-request.ts';
import type { SettingsStore } from '../settings/settings.ts';
import type { LoopWatch } from '../platform/loop-watch.ts';
import type { ConversationMcpServers } from './conversation-mcp-servers.ts';
import { urlOf } from '../settings/mcp-keys.ts';
import { fetchBy } from '../conversations/network/fetch-by.ts';
import { McpServers } from './mcp-servers.ts';
import type { McpLogins } from './oauth/mcp-logins.ts';
import type { ToolPins } from './tool-pins.ts';

/** Where tools of MCP servers come from. */
interface McpToolsParts {
  readonly settings: Pick<SettingsStore, 'mcpServers' | 'key'>;
  readonly config: Pick<ConversationConfig, 'mcpServers' | 'searchApiKey'>;
  readonly mcpServers: ConversationMcpServers;
  readonly mcpLogins: McpLogins;
  readonly pins: ToolPins;
  /** Those that are enabled. */
  readonly plugins: readonly Pick<Plugin, 'mcpServers'>[];
}

export interface ConversationToolsParts extends PullRequestParts, McpToolsParts {
  /** Those of the user. */
  readonly custom: CustomTools;
  /** The conversation's own way to its sandbox. */
  readonly own: Runtimes;
  readonly runtimes: Pick<SandboxPool, 'ports' | 'dialAs'>;
  readonly clock: Clock;
  readonly loop: LoopWatch;
  /** Whether somebody looks at this conversation who can answer a question. */
  readonly isAttended: () => boolean;
  /** One sentence for the clients that watch. */
  readonly onProblem: (sentence: string) => void;
}

/** What this conversation's agent is offered beside its own tools. */
export function conversationTools(record: StoredConversation, parts: ConversationToolsParts): ExternalTools {
  const { settings, config, mcpServers, mcpLogins, pins, custom, own, runtimes, clock, loop, isAttended, onProblem } = parts;
  const usual = () => usualMcpServers(parts);
  const chosen = mcpServers.open(record);
  const urlsOf = (given: McpConfig) => [...given.shttp_servers, ...given.sse_servers].map(urlOf);
  const strange = new Set(chosen && !mcpServers.isAdmins(record) ? urlsOf(chosen) : []);
  const isPoliced = (url: string) => strange.has(url) && !urlsOf(usual()).includes(url);
  const servers = new McpServers({
    config: () => {
      const named = chosen ?? usual();
      return withSearch(named, settings.key('search_api_key') ?? config.searchApiKey);
    },
    clock,
    isAttended,
    pins,
    fetchFor: ({ url, apiKey }) => {
      if (isPoliced(url)) return fetchBy(runtimes.dialAs(record.id));
      return apiKey === undefined ? mcpLogins.fetchFor(url) : undefined;
    },
    loginOf: ({ url, apiKey }) => (isPoliced(url) || apiKey !== undefined ? undefined : (mcpLogins.madeAt(url)?.toISOString() ?? '')),
    openProcess: async (signal) => {
      await own.acquire(record.id, { signal });
      const ports = runtimes.ports(record.id);
      if (!ports) throw new Error('the sandbox has gone');
      return ports.openProcess({ signal });
    },
    onProblem,
  });
  const pulls = offeredPullRequests(record.id, parts);
  return {
    async offered(options) {
      const [users, ours, others] = await Promise.all([custom.offered(options), pulls.offered(options), servers.offered(options)]);
      const names = new Set(users.map(({ spec }) => spec.name));
      const rest = [...ours, ...others.filter(({ spec }) => !PULL_REQUEST_NAMES.has(spec.name))];
      return [...users, ...rest.filter(({ spec }) => !names.has(spec.name))];
    },
    async call(action, options) {
      const { name } = action.args;
      const called = (await custom.has(name, options)) ? custom : PULL_REQUEST_NAMES.has(name) ? pulls : servers;
      return called.call(action, options).finally(() => loop.ended('a call of an external tool'));
    },
    async close() {
      await Promise.all([custom.close(), servers.close()]);
      mcpServers.forget(record.id);
    },
  };
}

interface UsualServerParts {
  readonly config: { readonly mcpServers: McpConfig | undefined };
  readonly settings: { readonly mcpServers: McpConfig };
  readonly plugins: readonly Pick<Plugin, 'mcpServers'>[];
}

/** Those of a conversation that names none: of the configuration, of the settings, and of plugins. */
export function usualMcpServers({ config, settings, plugins }: UsualServerParts): McpConfig {
  return plugins.map(({ mcpServers }) => mcpServers).reduce(joinedMcpServers, joinedMcpServers(config.mcpServers, settings.mcpServers));
}

/** Those of the configuration, then those of the settings; who is named in both is asked once, as the configuration has it. */
function joinedMcpServers(configured: McpConfig | undefined, settings: McpConfig): McpConfig {
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

/** Tavily's own MCP server. The key goes there and nowhere else; in a sandbox it never is. */
const TAVILY = 'https://mcp.tavily.com/mcp/';

/**
 * With the tools that search the web, for the key that the settings have for it; a server of Tavily's that is named already stays alone.
 * @internal
 */
export function withSearch(config: McpConfig, key: Secret | undefined): McpConfig {
  const api_key = key?.reveal();
  const isNamed = JSON.stringify([config.shttp_servers, config.sse_servers]).includes('//mcp.tavily.com/');
  if (!api_key?.startsWith('tvly-') || isNamed) return config;
  return { ...config, shttp_servers: [...config.shttp_servers, { url: TAVILY, api_key, timeout: 60 }] };
}
