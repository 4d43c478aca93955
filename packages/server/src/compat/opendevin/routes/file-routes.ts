import { text } from 'node:stream/consumers';
import { Failure, FileList, type NamedTree } from '@tendon/protocol';
import { z } from 'zod';
import type { WorkspaceFiles } from '@tendon/core';
import type { App, Routes } from '../../../platform/http/app.ts';
import { WsSessions } from '../sockets/ws-sessions.ts';
import { fail, sendFailure } from '../../../platform/http/failure.ts';
import { isUntouched, workspaceOf, type WorkspaceContext } from '../../../sandboxes/workspace-of.ts';
import { conversationMeant, type BearerContext } from './bearer.ts';
import { forward, sendForwarded, type ForwardContext } from './forward.ts';
import type { Conversations } from '../../../conversations/conversations.ts';
import { HIDDEN_ENTRIES } from '../../../files/shown-entries.ts';

/** From the page's first question to its conversation. */
const FIRST_MS = 5_000;

export interface FileContext extends BearerContext, ForwardContext, WorkspaceContext {
  readonly conversations: Conversations;
}

/** The files of the session's workspace, for clients that name no conversation. */
export const fileRoutes: Routes<FileContext> = (app, context) => {
  for (const url of ['/api/refresh-files', '/refresh-files']) refreshFiles(app, context, url);
  for (const url of ['/api/select-file', '/select-file']) selectFile(app, context, url);
  listFiles(app, context);
  saveFile(app, context);
};

/** opendevin-2024-04 asks once, at load, while its socket creates the conversation; where files may exist already, the answer waits for it. */
function refreshFiles(app: App, context: FileContext, url: string): void {
  const { config, logger } = context;
  const nothing: NamedTree = { name: 'workspace', children: [] };
  app.get(url, { schema: { hide: true } }, async (request): Promise<NamedTree> => {
    const meant = await conversationMeant(request, context);
    const isAwaited = request.headers.authorization === undefined && config.workspaceBase !== undefined;
    const coming = (): Promise<string | undefined> => WsSessions.of(context).latestConversation(AbortSignal.timeout(FIRST_MS));
    const conversation = typeof meant === 'string' ? meant : isAwaited ? await coming() : undefined;
    if (conversation === undefined || (await isUntouched(context, conversation))) return nothing;
    const workspace = await workspaceOf(context, conversation);
    if ('code' in workspace) return nothing;
    return workspaceTree(workspace.runtime.files).catch((cause: unknown) => {
      logger.warn({ err: cause, conversation }, 'a workspace could not be listed');
      return nothing;
    });
  });
}

function selectFile(app: App, context: FileContext, url: string): void {
  const schema = { querystring: z.object({ file: z.string().min(1).max(4096) }), hide: true };
  app.get(url, { schema }, async (request, reply) => {
    const conversation = await conversationMeant(request, context);
    if (typeof conversation !== 'string') return sendFailure(reply, conversation);
    const path = `select-file?${new URLSearchParams({ file: inWorkspace(request.query.file) }).toString()}`;
    return sendForwarded(reply, await forward(app, context, request, { conversation, path }));
  });
}

/** 0.6 to 0.8 name the workspace `/` and want entries that begin with it; later ones name folders as they were listed. */
function listFiles(app: App, context: FileContext): void {
  const schema = {
    querystring: z.object({ path: z.string().max(4096).optional() }),
    response: { 200: FileList, '4xx': Failure, '5xx': Failure },
  };
  app.get('/api/list-files', { schema }, async (request, reply) => {
    const conversation = await conversationMeant(request, context);
    if (typeof conversation !== 'string') return sendFailure(reply, conversation);
    const { path = '' } = request.query;
    const inner = inWorkspace(path);
    const query = inner === '.' ? '' : `?${new URLSearchParams({ path: inner }).toString()}`;
    const answer = await forward(app, context, request, { conversation, path: `list-files${query}` });
    if (answer.statusCode !== 200) return sendForwarded(reply, answer) as never;
    const entries = JSON.parse(await text(answer.stream())) as string[];
    const root = /^\/(?:workspace(?:\/|$))?/.exec(path)?.[0].replace(/\/?$/, '/') ?? '';
    return entries.map((entry) => root + entry);
  });
}

function saveFile(app: App, context: FileContext): void {
  app.post('/api/save-file', { schema: { hide: true } }, async (request, reply) => {
    const conversation = await conversationMeant(request, context);
    if (typeof conversation !== 'string') return sendFailure(reply, conversation);
    const body = request.body as Readonly<Record<string, unknown>> | null;
    if (typeof body !== 'object' || body === null || typeof body.filePath !== 'string') return fail(reply, 'INVALID_ARGUMENTS', 'filePath');
    const saved = { ...body, filePath: inWorkspace(body.filePath) };
    return sendForwarded(reply, await forward(app, context, request, { conversation, path: 'save-file', body: saved }));
  });
}

/** `/src/` of 0.6 and `/workspace/src/` of the agent's own words are `src/`. */
function inWorkspace(path: string): string {
  return path.replace(/^\/+(?:workspace(?:\/+|$))?/, '') || '.';
}

const MAX_FOLDERS = 500;
const MAX_ENTRIES = 5_000;
const TIMEOUT_MS = 10_000;

/** The workspace as opendevin-2024-04 shows it: names and children; folders without files are left out, and so is what is beyond the bounds. */
async function workspaceTree(files: WorkspaceFiles): Promise<NamedTree> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let folders = MAX_FOLDERS;
  let entries = MAX_ENTRIES;
  async function childrenOf(path: string): Promise<NamedTree[]> {
    if (folders-- <= 0) return [];
    const children: NamedTree[] = [];
    for (const entry of await files.list(path, { signal })) {
      if (HIDDEN_ENTRIES.has(entry) || entries-- <= 0) continue;
      const name = entry.replace(/\/$/, '');
      const inner = entry.endsWith('/') ? await childrenOf(`${path}/${name}`) : [];
      if (!entry.endsWith('/') || inner.length > 0) children.push({ name, children: inner });
    }
    return children.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
  return { name: 'workspace', children: await childrenOf('.') };
}
