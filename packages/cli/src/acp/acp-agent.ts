/** Tendon as an agent of the Agent Client Protocol: an editor's sessions are conversations of the server of the home. */
import { isAbsolute } from 'node:path';
import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type AgentContext,
  type McpServer,
  type SessionConfigSelectOption,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import type { NewConversation, Rest } from '@tendon/client';
import type { AttachedServer } from '../attach/attached-server.ts';
import { AcpSession, type Editor } from './acp-session.ts';
import { chooseOption, sessionOptions, type SessionOption } from './session-options.ts';

export interface AcpAgentOptions {
  readonly version: string;
  /** The server of the sessions; it is started if none runs. */
  readonly server: () => Promise<AttachedServer>;
  /** Allows agents to work in a folder. */
  readonly grant: (folder: string) => Promise<void>;
  /** Aborts with the connection to the editor. */
  readonly signal: AbortSignal;
}

export function acpAgent({ version, server, grant, signal }: AcpAgentOptions): AgentApp {
  const sessions = new Map<string, AcpSession>();
  const find = (id: string): AcpSession => openedIn(sessions, id);
  const open = async (client: AgentContext, id: string, cwd: string, isLoaded: boolean): Promise<Chosen> => {
    const attached = await server();
    const { rest } = attached;
    if (!(await rest.conversations.get(id))) throw RequestError.resourceNotFound(id);
    sessions.get(id)?.close();
    sessions.set(id, await AcpSession.open(id, { client: editorOf(client), server: attached, folder: folderOf(cwd), isLoaded, signal }));
    // When the editor knows the session.
    setImmediate(() => sessions.get(id)?.advertise());
    return chosenIn(rest, id);
  };
  return agent({ name: 'tendon' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'tendon', title: 'Tendon', version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, async ({ client, params: { cwd, mcpServers } }) => {
      const { rest } = await server();
      await grant(folderOf(cwd));
      const { conversation_id: id } = await rest.conversations.create({ directory: cwd, ...mcpOf(mcpServers) });
      return { sessionId: id, ...(await open(client, id, cwd, false)) };
    })
    .onRequest(methods.agent.session.load, ({ client, params: { sessionId, cwd } }) => open(client, sessionId, cwd, true))
    .onRequest(methods.agent.session.resume, ({ client, params: { sessionId, cwd } }) => open(client, sessionId, cwd, false))
    .onRequest(methods.agent.session.close, async ({ params: { sessionId } }) => closeIn(sessions, sessionId, find(sessionId)))
    .onRequest(methods.agent.session.delete, async ({ params: { sessionId } }) => {
      sessions.get(sessionId)?.close();
      sessions.delete(sessionId);
      return deleteIn((await server()).rest, sessionId);
    })
    .onRequest(methods.agent.session.list, async ({ params: { cwd } }) => {
      return { sessions: cwd ? await sessionsIn((await server()).rest, cwd) : [] };
    })
    .onRequest(methods.agent.session.setMode, async ({ params: { sessionId, modeId } }) => {
      const session = find(sessionId);
      await chooseOption((await server()).rest, session.id, 'agent', modeId);
      void session.reportOptions();
      return {};
    })
    .onRequest(methods.agent.session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
      const { rest } = await server();
      await chooseOption(rest, find(sessionId).id, configId, value);
      return { configOptions: await sessionOptions(rest, sessionId) };
    })
    .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt } }) => ({
      stopReason: await find(sessionId).prompt(prompt),
    }))
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => sessions.get(sessionId)?.cancel());
}

function editorOf(client: AgentContext): Editor {
  return {
    update: (sessionId, update) => client.notify(methods.client.session.update, { sessionId, update }),
    async ask(sessionId, { toolCall, options }) {
      const { outcome } = await client.request(methods.client.session.requestPermission, { sessionId, toolCall, options: [...options] });
      return outcome.outcome === 'selected' ? outcome.optionId : undefined;
    },
  };
}

/** An editor may name a session that this connection has not opened. */
export function openedIn<T>(sessions: ReadonlyMap<string, T>, id: string): T {
  const found = sessions.get(id);
  if (found === undefined) throw RequestError.resourceNotFound(id);
  return found;
}

/** The conversations in this folder. */
export async function sessionsIn(rest: Rest, cwd: string): Promise<{ sessionId: string; cwd: string; title: string; updatedAt: string }[]> {
  const { results } = await rest.conversations.list({ directory: folderOf(cwd) });
  return results.map(({ conversation_id: sessionId, title, last_updated_at: updatedAt }) => ({ sessionId, cwd, title, updatedAt }));
}

export function folderOf(cwd: string): string {
  if (!isAbsolute(cwd)) throw RequestError.invalidParams(undefined, 'cwd: an absolute path is expected');
  return cwd;
}

/** Removes a session from the connection, and cancels its work. */
export async function closeIn<T>(sessions: Map<string, T>, id: string, session: AcpSession): Promise<Record<string, never>> {
  sessions.delete(id);
  await session.end();
  return {};
}

/** Deletes a session for good; one that no longer exists counts as deleted. */
export async function deleteIn(rest: Rest, id: string): Promise<Record<string, never>> {
  if (await rest.conversations.get(id)) await rest.conversations.delete(id);
  return {};
}

interface Chosen {
  /** For editors that do not support options. */
  readonly modes: SessionModeState;
  readonly configOptions: SessionOption[];
}

/** The agents that can be chosen are the modes. */
async function chosenIn(rest: Rest, id: string): Promise<Chosen> {
  const configOptions = await sessionOptions(rest, id);
  const { currentValue: currentModeId, options } = configOptions.find((option) => option.id === 'agent')!;
  const availableModes = (options as readonly SessionConfigSelectOption[]).map(({ value }) => ({
    id: value,
    name: value.replace(/Agent$/, ''),
  }));
  return { modes: { currentModeId, availableModes }, configOptions };
}

export function mcpOf(servers: readonly McpServer[]): NewConversation {
  if (servers.length === 0) return {};
  const addressed = (type: 'http' | 'sse') =>
    servers.flatMap((each) => ('type' in each && each.type === type ? [{ url: each.url, ...keyOf(each.name, each.headers) }] : []));
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

/** Only its key is sent to such a server: other headers that an editor names are refused, not left out. */
function keyOf(server: string, headers: readonly { readonly name: string; readonly value: string }[]): { readonly api_key?: string } {
  const keys = headers.map(({ name, value }) => {
    const [, key] = /^bearer\s+(\S+)$/i.exec(value.trim()) ?? [];
    if (name.toLowerCase() !== 'authorization' || key === undefined)
      throw RequestError.invalidParams(undefined, `mcpServers: ${server}: of headers only "Authorization: Bearer …" can be sent`);
    return key;
  });
  return keys[0] === undefined ? {} : { api_key: keys[0] };
}
