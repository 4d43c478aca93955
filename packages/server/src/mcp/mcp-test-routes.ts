import { catalogError, Failure, McpTest, type McpConfig, TestMcpServer } from '@tendon/protocol';
import type { Mask } from '@tendon/protocol/masking';
import type { SandboxPool } from '@tendon/runtime';
import { enabledPlugins } from '../extensions/installed-plugins.ts';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import { untilClientLeaves } from '../platform/http/until-client-leaves.ts';
import type { ProbedSandbox } from '../sandboxes/open-driver.ts';
import type { ConnectOptions } from './connect-mcp-server.ts';
import { usualMcpServers } from './conversation-tools.ts';
import { type McpServer, mcpServers } from './mcp-server.ts';
import type { McpLogins } from './oauth/mcp-logins.ts';

interface TestContext {
  readonly config: { readonly home: string; readonly mcpServers: McpConfig | undefined };
  readonly settings: { readonly mcpServers: McpConfig };
  readonly mcpLogins: Pick<McpLogins, 'fetchFor'>;
  readonly runtimes: Pick<SandboxPool, 'runOneOff'>;
  readonly sandbox: Pick<ProbedSandbox, 'strength'>;
  readonly mask: Mask;
}

/** A person looks at the page. */
const ANSWER_MS = 20_000;
/** With the start of a sandbox, and of a program that may have to be fetched first. */
const PROGRAM_ANSWER_MS = 90_000;
const MAX_WORDS = 300;
const NO_SANDBOX =
  'a program is tested in a sandbox alone, and this server has none (RUNTIME=none): its conversations start it on this machine';

/** Ours: connects to one of the stored MCP servers as a conversation would, and lists its tools. A program runs in a sandbox that has nothing else. */
export const mcpTestRoutes: Routes<TestContext> = (app, context) => {
  app.post(
    '/api/mcp/test',
    { schema: { body: TestMcpServer, response: { 200: McpTest, '4xx': Failure } } },
    async ({ body: { server: named } }, reply) => {
      const { config, settings } = context;
      const server = storedServer(usualMcpServers({ config, settings, plugins: await enabledPlugins(config.home) }), named);
      if (!server) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'the settings name no such MCP server'));
      return untilClientLeaves(reply, (left) => test(server, left, context));
    },
  );
};

/** By the name of its tools, its address, or for a program the name that the settings have. */
function storedServer(config: McpConfig, named: string): McpServer | undefined {
  const all = mcpServers(config);
  const found = all.find((one) => one.name === named || (one.kind !== 'stdio' && one.url === named));
  // Programs come first, in their order.
  return found ?? all[config.stdio_servers.findIndex(({ name }) => name === named)];
}

async function test(server: McpServer, left: AbortSignal, { runtimes, sandbox, mask, mcpLogins }: TestContext): Promise<McpTest> {
  const isProgram = server.kind === 'stdio';
  if (isProgram && sandbox.strength === 'none') return failed(NO_SANDBOX);
  const answerMs = isProgram ? PROGRAM_ANSWER_MS : ANSWER_MS;
  const deadline = AbortSignal.timeout(answerMs);
  const signal = AbortSignal.any([left, deadline]);
  try {
    if (isProgram)
      return await runtimes.runOneOff((programs) => tools(server, { signal, openProcess: () => programs.openProcess({ signal }) }), {
        signal,
      });
    const fetch = server.apiKey === undefined ? mcpLogins.fetchFor(server.url) : undefined;
    return await tools(server, { signal, fetch, openProcess: () => Promise.reject(new Error('a program runs in a sandbox')) });
  } catch (cause) {
    return failed(deadline.aborted ? `it did not answer within ${answerMs / 1000} s` : mask.text((cause as Error).message));
  }
}

async function tools(server: McpServer, options: Omit<ConnectOptions, 'onTools'>): Promise<McpTest> {
  const { connectMcpServer } = await import('./connect-mcp-server.ts');
  const connection = await connectMcpServer(server, { ...options, onTools: () => undefined });
  await connection.close().catch(() => undefined);
  return {
    tools: connection.tools.map(({ name, description = '' }) => ({ name, description: description.slice(0, MAX_WORDS) })),
    failure: null,
  };
}

function failed(words: string): McpTest {
  return { tools: [], failure: words.slice(0, MAX_WORDS * 4) };
}
