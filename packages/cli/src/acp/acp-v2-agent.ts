/**
 * The same agent in the draft of version 2: a prompt is answered when it is accepted, and the session's state reports progress. The
 * sessions are those of version 1.
 */
import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type AgentContext,
  type McpServer,
  type PromptRequest,
  type SessionConfigOption,
  type StateUpdate,
} from '@agentclientprotocol/sdk/experimental/v2';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { Rest } from '@tendon/client';
import { closeIn, deleteIn, folderOf, mcpOf, openedIn, sessionsIn, type AcpAgentOptions } from './acp-agent.ts';
import { AcpSession, type Editor } from './acp-session.ts';
import { chooseOption, sessionOptions } from './session-options.ts';
import { draftOption, V2Updates } from './v2-updates.ts';

interface Opened {
  readonly session: AcpSession;
  readonly updates: V2Updates;
}

export function acpV2Agent({ version, server, grant, signal }: AcpAgentOptions): AgentApp {
  const sessions = new Map<string, Opened>();
  const find = (id: string): Opened => openedIn(sessions, id);
  const open = async (client: AgentContext, id: string, folder: string, isLoaded: boolean): Promise<void> => {
    sessions.get(id)?.session.close();
    const updates = new V2Updates();
    const session = await AcpSession.open(id, { client: editorOf(client, updates), server: await server(), folder, isLoaded, signal });
    sessions.set(id, { session, updates });
    // When the editor knows the session.
    setImmediate(() => sessions.get(id)?.session.advertise());
  };
  return agent({ name: 'tendon' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      info: { name: 'tendon', title: 'Tendon', version },
      capabilities: { session: { prompt: { image: {}, embeddedContext: {} }, mcp: { http: {}, stdio: {} }, delete: {} } },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, async ({ client, params: { cwd, mcpServers = [] } }) => {
      const { rest } = await server();
      await grant(folderOf(cwd));
      const { conversation_id: id } = await rest.conversations.create({ directory: cwd, ...mcpOf(mcpServers.map(knownServer)) });
      await open(client, id, cwd, false);
      return { sessionId: id, configOptions: await optionsOf(rest, id) };
    })
    .onRequest(methods.agent.session.resume, async ({ client, params: { sessionId: id, cwd, replayFrom } }) => {
      const { rest } = await server();
      if (!(await rest.conversations.get(id))) throw RequestError.resourceNotFound(id);
      await open(client, id, folderOf(cwd), replayFrom !== undefined && replayFrom !== null);
      await reportState(client, find(id).session);
      return { configOptions: await optionsOf(rest, id) };
    })
    .onRequest(methods.agent.session.list, async ({ params: { cwd } }) => ({
      sessions: cwd ? await sessionsIn((await server()).rest, cwd) : [],
    }))
    .onRequest(methods.agent.session.close, ({ params: { sessionId } }) => closeIn(sessions, sessionId, find(sessionId).session))
    .onRequest(methods.agent.session.delete, async ({ params: { sessionId } }) => {
      sessions.get(sessionId)?.session.close();
      sessions.delete(sessionId);
      return deleteIn((await server()).rest, sessionId);
    })
    .onRequest(methods.agent.session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
      const { rest } = await server();
      await chooseOption(rest, find(sessionId).session.id, configId, value);
      return { configOptions: await optionsOf(rest, sessionId) };
    })
    .onRequest(methods.agent.session.prompt, ({ client, params: { sessionId, prompt } }) => begin(client, find(sessionId), prompt))
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => sessions.get(sessionId)?.session.cancel());
}

/** The state of a session that is resumed, perhaps in the middle of a turn. */
async function reportState(client: AgentContext, session: AcpSession): Promise<void> {
  const rest = () => state(client, session.id, { state: 'idle', stopReason: null });
  if (!session.isAtWork) return rest();
  void session.rested().then(rest);
  await state(client, session.id, { state: 'running' });
}

/** A prompt that is refused does not change the reported state. */
async function begin(client: AgentContext, { session, updates }: Opened, prompt: PromptRequest['prompt']): Promise<{ messageId: string }> {
  const { id: sessionId } = session;
  const answered = session.prompt(prompt as ContentBlock[]);
  answered.catch(() => undefined);
  const update = updates.asked(prompt);
  await client.notify(methods.client.session.update, { sessionId, update });
  await state(client, sessionId, { state: 'running' });
  void answered.then(
    (stopReason) => state(client, sessionId, { state: 'idle', stopReason } as StateUpdate),
    (error: Error) => state(client, sessionId, { state: 'idle', stopReason: 'error', error: { code: -32603, message: error.message } }),
  );
  return { messageId: update.messageId };
}

async function state(client: AgentContext, sessionId: string, now: StateUpdate): Promise<void> {
  const update = { sessionUpdate: 'state_update', ...now } as const;
  await client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined); // the editor has left
}

function editorOf(client: AgentContext, updates: V2Updates): Editor {
  return {
    async update(sessionId, v1) {
      const update = updates.of(v1);
      if (update) await client.notify(methods.client.session.update, { sessionId, update });
    },
    async ask(sessionId, { title, toolCall: { content: _content, ...toolCall }, options }) {
      await state(client, sessionId, { state: 'requires_action' });
      const subject = { type: 'tool_call', toolCall } as const;
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId,
        title,
        subject,
        options: [...options],
      });
      await state(client, sessionId, { state: 'running' });
      return outcome.outcome === 'selected' && 'optionId' in outcome ? String(outcome.optionId) : undefined;
    },
  };
}

/** An unknown kind of server is refused, not left out. */
function knownServer(server: McpServer): Parameters<typeof mcpOf>[0][number] {
  if (server.type === 'http') {
    const { name, url, headers = [] } = server as Extract<McpServer, { readonly type: 'http' }>;
    return { type: 'http', name, url, headers: [...headers] };
  }
  if (server.type !== 'stdio') throw RequestError.invalidParams(undefined, `mcpServers: ${server.type} is not spoken here`);
  const { name, command, args = [], env = [] } = server as Extract<McpServer, { readonly type: 'stdio' }>;
  return { name, command, args, env };
}

async function optionsOf(rest: Rest, id: string): Promise<SessionConfigOption[]> {
  return (await sessionOptions(rest, id)).map(draftOption);
}
