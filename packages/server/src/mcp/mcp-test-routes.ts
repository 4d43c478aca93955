import { catalogError, Failure, McpTest, type McpConfig, TestMcpServer } from '@tendon/protocol';
import { enabledPlugins } from '../extensions/installed-plugins.ts';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import { usualMcpServers } from './conversation-tools.ts';
import { type McpServer, mcpServers } from './mcp-server.ts';
import type { McpLogins } from './oauth/mcp-logins.ts';

interface TestContext {
  readonly config: { readonly home: string; readonly mcpServers: McpConfig | undefined };
  readonly settings: { readonly mcpServers: McpConfig };
  readonly mcpLogins: Pick<McpLogins, 'fetchFor'>;
}

/** A person looks at the page. */
const ANSWER_MS = 20_000;
const MAX_WORDS = 300;

/** Ours: connects to one of the stored MCP servers as a conversation would, and lists its tools. Programs run in sandboxes alone. */
export const mcpTestRoutes: Routes<TestContext> = (app, { config, settings, mcpLogins }) => {
  app.post(
    '/api/mcp/test',
    { schema: { body: TestMcpServer, response: { 200: McpTest, '4xx': Failure } } },
    async ({ body: { server: named } }, reply) => {
      const all = mcpServers(usualMcpServers({ config, settings, plugins: await enabledPlugins(config.home) }));
      const server = all.find((one) => one.name === named || (one.kind !== 'stdio' && one.url === named));
      if (!server || server.kind === 'stdio')
        return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'the settings name no such MCP server with an address'));
      return ask(server, server.apiKey === undefined ? mcpLogins.fetchFor(server.url) : undefined);
    },
  );
};

async function ask(server: McpServer, fetch: typeof globalThis.fetch | undefined): Promise<McpTest> {
  const { connectMcpServer } = await import('./connect-mcp-server.ts');
  const signal = AbortSignal.timeout(ANSWER_MS);
  const openProcess = () => Promise.reject(new Error('a program runs in a sandbox'));
  try {
    const connection = await connectMcpServer(server, { signal, fetch, openProcess, onTools: () => undefined });
    const tools = connection.tools.map(({ name, description = '' }) => ({ name, description: description.slice(0, MAX_WORDS) }));
    await connection.close().catch(() => undefined);
    return { tools, failure: null };
  } catch (cause) {
    const failure = signal.aborted ? `it did not answer within ${ANSWER_MS / 1000} s` : (cause as Error).message;
    return { tools: [], failure: failure.slice(0, MAX_WORDS * 4) };
  }
}
