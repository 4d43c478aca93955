import { text, json, buffer } from 'node:stream/consumers';
import { Failure, FileList, type NamedTree, catalogError, type UploadAnswer } from '@tendon/protocol';
import { z } from 'zod';
import type { WorkspaceFiles } from '@tendon/core';
import type { App, Routes } from '../../../platform/http/app.ts';
import { WsSessions } from '../sockets/ws-sessions.ts';
import { fail, sendFailure, failureWith } from '../../../platform/http/failure.ts';
import { isUntouched, workspaceOf, type WorkspaceContext, fileFailureStatus, wordsOf } from '../../../sandboxes/workspace-of.ts';
import { conversationMeant, type BearerContext, forward, sendForwarded, type ForwardContext } from './forward.ts';
import type { Conversations } from '../../../conversations/conversations.ts';
import { HIDDEN_ENTRIES } from '../../../files/shown-entries.ts';
import type { Readable } from 'node:stream';
import { withDeadline } from '@tendon/protocol/async';
import type { SandboxPool } from '@tendon/runtime';

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
    if (conversation === undefined || !(await context.conversations.visibility.sees(request.principal, conversation))) return nothing;
    if (await isUntouched(context, conversation)) return nothing;
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

const UPLOAD_TIMEOUT_MS = 30_000;
const MAX_BYTES = 20 * 1024 * 1024;
const MULTIPART = 'multipart/form-data';

export interface UploadContext extends BearerContext, ForwardContext {
  readonly runtimes: SandboxPool;
}

/** Uploads of 2024, into the workspace of the session: one `file` (opendevin-2024-05), several `files` (opendevin-2024-06 and later). */
export const uploadRoutes: Routes<UploadContext> = (app, context) => {
  void app.register(async (scope: App) => {
    // The handler that answers reads the body.
    if (!scope.hasContentTypeParser(MULTIPART)) scope.addContentTypeParser(MULTIPART, (_request, payload, done) => done(null, payload));
    uploadFiles(scope, context);
    uploadFile(scope, context);
  });
};

function uploadFiles(app: App, context: UploadContext): void {
  app.post('/api/upload-files', { schema: { hide: true } }, async (request, reply) => {
    const conversation = await conversationMeant(request, context);
    if (typeof conversation !== 'string') return sendFailure(reply, conversation);
    const answer = await forward(app, context, request, { conversation, path: 'upload-files' });
    if (answer.statusCode !== 200) return sendForwarded(reply, answer);
    const { uploaded_files, skipped_files } = (await json(answer.stream())) as UploadAnswer;
    const names = uploaded_files.map((path) => path.slice(path.lastIndexOf('/') + 1));
    const body = { message: 'File upload process completed', file_count: names.length, uploaded_files: names, skipped_files };
    if (names.length > 0 || skipped_files.length === 0) return reply.send(body);
    return reply.code(400).send({ ...body, error: 'No files were uploaded' });
  });
}

function uploadFile(app: App, context: UploadContext): void {
  const schema = {
    response: { 200: z.object({ filename: z.string(), location: z.string() }), '4xx': Failure, '5xx': Failure },
    hide: true,
  };
  app.post('/api/upload-file', { schema }, async (request, reply) => {
    const conversation = await conversationMeant(request, context);
    if (typeof conversation !== 'string') return sendFailure(reply, conversation);
    const file = await fileIn(request.raw, request.headers['content-type'] ?? '');
    if (file === 'too large') return fail(reply, 'FRAME_TOO_LARGE', '20 MB');
    const name = file && file.name.replace(/^.*[/\\]/s, '');
    if (!file || !name || /^\.{1,2}$|\p{Cc}/u.test(name))
      return fail(reply, 'INVALID_ARGUMENTS', 'a multipart field "file" with a name is expected');
    const runtime = context.runtimes.current(conversation);
    if (!runtime) return sendFailure(reply, catalogError('RUNTIME_NOT_READY'));
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      await withDeadline(UPLOAD_TIMEOUT_MS, (signal) => runtime.files.write(name, bytes, { signal }));
    } catch (cause) {
      return reply.code(fileFailureStatus(cause)).send(failureWith(`Error uploading the file: ${wordsOf(cause)}`));
    }
    return { filename: name, location: `/workspace/${name}` };
  });
}

/** The field `file`; `undefined` when there is none or the body is not what it says. */
async function fileIn(body: Readable, type: string): Promise<File | 'too large' | undefined> {
  const bytes = await buffer(bounded(body)).catch(() => undefined);
  if (!bytes) return 'too large';
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData().catch(() => undefined);
  const file = form?.get('file');
  return file instanceof File ? file : undefined;
}

async function* bounded(body: Readable): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body) {
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) throw new Error('too large');
    yield chunk as Buffer;
  }
}
