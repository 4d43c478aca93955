/** Tendon as an agent of the Agent Client Protocol: an editor's sessions are conversations of the server of the home. */
import { isAbsolute } from 'node:path';
import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type McpServer,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import type { NewConversation, Rest } from '@tendon/client';
import { AcpSession } from './acp-session.ts';

export interface AcpAgentOptions {
  readonly version: string;
  /** The server that the sessions are on; started where none runs. */
  readonly server: () => Promise<Rest>;
  /** Gives a folder to agents. */
  readonly grant: (folder: string) => Promise<void>;
  /** Of the connection to the editor. */
  readonly signal: AbortSignal;
}

export function acpAgent({ version, server, grant, signal }: AcpAgentOptions): AgentApp {
  const sessions = new Map<string, AcpSession>();
  const find = (id: string): AcpSession => {
    const session = sessions.get(id);
    if (!session) throw RequestError.resourceNotFound(id);
    return session;
  };
  return agent({ name: 'tendon' })
    .onRequest(methods.agent.initialize, () => ({
      // The newest version that is spoken here: an editor that does not know it closes the connection.
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'tendon', title: 'Tendon', version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {} },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, async ({ client, params: { cwd, mcpServers } }) => {
      const rest = await server();
      await grant(folderOf(cwd));
      const { conversation_id: id } = await rest.conversations.create({ directory: cwd, ...mcpOf(mcpServers) });
      sessions.set(id, await AcpSession.open(id, { client, rest, folder: cwd, isLoaded: false, signal }));
      return { sessionId: id, modes: await modesOf(rest, id) };
    })
    .onRequest(methods.agent.session.load, async ({ client, params: { sessionId: id, cwd } }) => {
      const rest = await server();
      if (!(await rest.conversations.get(id))) throw RequestError.resourceNotFound(id);
      sessions.get(id)?.close();
      sessions.set(id, await AcpSession.open(id, { client, rest, folder: folderOf(cwd), isLoaded: true, signal }));
      return { modes: await modesOf(rest, id) };
    })
    .onRequest(methods.agent.session.list, async ({ params: { cwd } }) => {
      if (!cwd) return { sessions: [] };
      const { results } = await (await server()).conversations.list({ directory: folderOf(cwd) });
      return {
        sessions: results.map(({ conversation_id: sessionId, title, last_updated_at: updatedAt }) => ({
          sessionId,
          cwd,
          title,
          updatedAt,
        })),
      };
    })
    .onRequest(methods.agent.session.setMode, async ({ params: { sessionId, modeId } }) => {
      await (await server()).conversations.choose(find(sessionId).id, { agent: modeId });
      return {};
    })
    .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt } }) => ({
      stopReason: await find(sessionId).prompt(prompt),
    }))
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => sessions.get(sessionId)?.cancel());
}

function folderOf(cwd: string): string {
  if (!isAbsolute(cwd)) throw RequestError.invalidParams(undefined, 'cwd: an absolute path is expected');
  return cwd;
}

/** The agents that can be chosen are the modes. */
async function modesOf(rest: Rest, id: string): Promise<SessionModeState> {
  const [names, info] = await Promise.all([rest.options.agents(), rest.conversations.get(id)]);
  const currentModeId = info?.agent ?? names[0] ?? '';
  return { currentModeId, availableModes: names.map((name) => ({ id: name, name: name.replace(/Agent$/, '') })) };
}

function mcpOf(servers: readonly McpServer[]): NewConversation {
  if (servers.length === 0) return {};
  const addressed = (type: 'http' | 'sse') => servers.flatMap((each) => ('type' in each && each.type === type ? [{ url: each.url }] : []));
  const programs = servers.flatMap((each) =>
    'command' in each
      ? [
          {
            name: each.name,
            command: each.command,
            args: each.args,
            env: Object.fromEntries(each.env.map(({ name, value }) => [name, value])),
          },
        ]
      : [],
  );
  const config = { shttp_servers: addressed('http'), sse_servers: addressed('sse'), stdio_servers: programs };
  return { mcp_config: config } as NewConversation;
}
