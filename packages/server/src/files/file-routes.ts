import { isUtf8 } from 'node:buffer';
import { Failure, FileContent, FileList, FilePath, SaveFile, toFileTree, UploadAnswer } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { withDeadline } from '@tendon/protocol/async';
import { fileFailureStatus, wordsOf, isUntouched, type Workspace, workspaceOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import { shownEntries } from './shown-entries.ts';
import { workspaceEntries, workspacePath } from './workspace-entries.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/request-parts.ts';
import { failureWith, sendFailure, sendJsonText } from '../platform/http/failure.ts';
import { KeyedMutex, type Clock } from '@tendon/core';

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 15_000;
const MAX_DEPTH = 32;
/** Of a tree; as many as one folder is listed with. */
const MAX_ENTRIES = 20_000;
const failures = { '4xx': Failure, 500: Failure };

interface FilesContext extends WorkspaceContext {
  readonly clock: Clock;
}

/** What is in a conversation's workspace. The sandbox reads it, never this process: links in a workspace lead wherever the agent likes. */
export const conversationFileRoutes: Routes<FilesContext> = (app, context) => {
  listing(app, context);
  contents(app, context);
  saving(app, context);
  tree(app, context);
};

function listing(app: App, context: FilesContext): void {
  const schema = { params: ById, querystring: z.object({ path: FilePath.optional() }), response: { 200: FileList, ...failures } };
  app.get('/api/conversations/:id/list-files', { schema }, async ({ params, query }, reply) => {
    const folder = workspacePath(query.path ?? '');
    if (folder === '.' && (await isUntouched(context, params.id))) return [];
    const workspace = await workspaceOf(context, params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    const { files } = workspace.runtime;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const now = context.clock.now();
      const [entries, isShown] = await Promise.all([
        files.list(folder, { signal }),
        shownEntries(workspace, folder, { depth: 1, signal, now }),
      ]);
      const inner = folder === '.' ? '' : `${folder.replace(/\/+$/, '')}/`;
      const prefix = folder === '.' ? '' : `${query.path!.replace(/\/+$/, '')}/`;
      return foldersFirst(entries.filter((entry) => isShown(inner + entry))).map((entry) => prefix + entry);
    } catch (cause) {
      return failed(reply, cause, 'Error listing files');
    }
  });
}

function contents(app: App, context: FilesContext): void {
  const select = async (id: string, file: string, reply: FastifyReply) => {
    const workspace = await workspaceOf(context, id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const bytes = await workspace.runtime.files.read(workspacePath(file), { signal, maxBytes: MAX_FILE_BYTES });
      if (!bytes.includes(0) && isUtf8(bytes)) return { code: Buffer.from(bytes).toString('utf8') };
      return reply.code(415).send(failureWith(`Unable to open binary file: ${file}`));
    } catch (cause) {
      return failed(reply, cause, 'Error opening file');
    }
  };
  const response = { 200: FileContent, ...failures };
  const byFile = { params: ById, querystring: z.object({ file: FilePath.min(1) }), response };
  app.get('/api/conversations/:id/select-file', { schema: byFile }, async ({ params, query }, reply) =>
    select(params.id, query.file, reply as FastifyReply),
  );
  const byPath = { params: ById, querystring: z.object({ path: FilePath.min(1) }), response };
  app.get('/api/conversations/:id/files/content', { schema: byPath }, async ({ params, query }, reply) =>
    select(params.id, query.path, reply as FastifyReply),
  );
}

function saving(app: App, context: FilesContext): void {
  /** Of two that replace the same text, the later one has not seen the other's. */
  const turns = new KeyedMutex();
  const saved = { params: ById, body: SaveFile, response: { 200: z.object({ message: z.string() }), ...failures } };
  app.post('/api/conversations/:id/save-file', { schema: saved }, async ({ params, body }, reply) => {
    const workspace = await workspaceOf(context, params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    const path = workspacePath(body.filePath);
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const isSaved = await turns.run(`${params.id}/${path}`, async () => {
        if (body.replaces !== undefined && !(await holds(workspace, path, body.replaces, signal))) return false;
        await workspace.runtime.files.write(path, Buffer.from(body.content), { signal });
        return true;
      });
      if (isSaved) return { message: 'File saved successfully' };
      return reply.code(409).send(failureWith(`${body.filePath} has changed since it was read, and was not overwritten`));
    } catch (cause) {
      return failed(reply, cause, 'Error saving file');
    }
  });
}

/** Whether the file is there and holds this text. */
async function holds({ runtime }: Workspace, path: string, text: string, signal: AbortSignal): Promise<boolean> {
  try {
    return Buffer.from(text).equals(await runtime.files.read(path, { signal, maxBytes: MAX_FILE_BYTES }));
  } catch (cause) {
    if ([404, 413].includes(fileFailureStatus(cause))) return false;
    throw cause;
  }
}

/** A `FileNode` whose children are such nodes again, which OpenAPI's writer cannot follow. */
const Tree = z.object({
  path: z.string(),
  name: z.string(),
  type: z.literal('directory'),
  children: z.array(z.record(z.string(), z.unknown())),
});

/** The Mac client's `FileNode`: what `list-files` shows, all of it in one answer. */
function tree(app: App, context: FilesContext): void {
  const depth = z.coerce.number().int().min(1).max(MAX_DEPTH).default(MAX_DEPTH);
  const querystring = z.object({ path: FilePath.optional(), depth });
  const schema = { params: ById, querystring, response: { 200: Tree, ...failures } };
  app.get('/api/conversations/:id/files/tree', { schema }, async ({ params, query }, reply) => {
    const workspace = await workspaceOf(context, params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    const folder = workspacePath(query.path ?? '').replace(/(?<=.)\/+$/, '');
    try {
      const now = context.clock.now();
      const [isShown, found] = await Promise.all([
        shownEntries(workspace, folder, { depth: query.depth, signal: AbortSignal.timeout(TIMEOUT_MS), now }),
        workspaceEntries(workspace, folder, { depth: query.depth, withHidden: false, maxEntries: MAX_ENTRIES, now }),
      ]);
      if (found.isCut) void reply.header('x-tendon-truncated', 'true');
      const inner = folder === '.' ? '' : `${folder}/`;
      const shown = found.entries.filter(({ path: entry }) => isShown(inner + entry));
      const top = folder === '.' ? workspace.root : folder.startsWith('/') ? folder : `${workspace.root}/${folder}`;
      const listed = shown.map((entry) => ({ path: entry.path, ...(entry.type === 'file' && { size: entry.size }) }));
      return sendJsonText(reply, JSON.stringify(toFileTree(top, listed))) as never;
    } catch (cause) {
      return failed(reply, cause, 'Error listing files');
    }
  });
}

function failed(reply: unknown, cause: unknown, what: string): never {
  return (reply as FastifyReply).code(fileFailureStatus(cause)).send(failureWith(`${what}: ${wordsOf(cause)}`)) as never;
}

function foldersFirst(entries: readonly string[]): string[] {
  const sorted = entries.toSorted((a, b) => (a < b ? -1 : 1));
  return [...sorted.filter((entry) => entry.endsWith('/')), ...sorted.filter((entry) => !entry.endsWith('/'))];
}

const LIMITS = { maxFiles: 500, maxFileBytes: 100 * 1024 * 1024 };
const WRITE_MS = 60_000;

/** Files into the workspace, and all of it out. Nothing of either is held in memory but the file at hand. */
export const conversationTransferRoutes: Routes<WorkspaceContext & { readonly clock: Clock }> = (app, context) => {
  // The stream is the handler's: it writes each file while the next one is still under way.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));

  const uploaded = { params: ById, response: { 200: UploadAnswer, '4xx': Failure } };
  app.post('/api/conversations/:id/upload-files', { schema: uploaded }, async (request, reply) => {
    if (!request.headers['content-type']?.startsWith('multipart/form-data')) {
      return reply.code(400).send(failureWith('Files are sent as multipart/form-data, each in a part named "files"'));
    }
    const workspace = await workspaceOf(context, request.params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    const { files } = workspace.runtime;
    const { takeUpload } = await import('./take-upload.ts');
    try {
      const taken = await takeUpload(request.headers, request.raw, LIMITS, (name, bytes) =>
        withDeadline(WRITE_MS, (signal) => files.write(name, bytes, { signal })),
      );
      const uploaded_files = taken.uploaded.map((name) => `${workspace.root}/${name}`);
      if (uploaded_files.length + taken.skipped.length === 0) return reply.code(400).send(failureWith('There is no file in the request'));
      return { message: wordsFor(uploaded_files.length), uploaded_files, skipped_files: [...taken.skipped] };
    } catch (cause) {
      return reply.code(400).send(failureWith(`Error uploading files: ${wordsOf(cause)}`));
    }
  });

  const one = { params: ById, querystring: z.object({ path: FilePath.min(1) }) };
  app.get('/api/conversations/:id/files/download', { schema: one }, async ({ params, query }, reply) => {
    const workspace = await workspaceOf(context, params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    try {
      const maxBytes = LIMITS.maxFileBytes;
      const bytes = await withDeadline(WRITE_MS, (signal) => workspace.runtime.files.read(workspacePath(query.path), { signal, maxBytes }));
      return reply
        .type('application/octet-stream')
        .headers({ 'content-disposition': attachment(query.path), 'content-security-policy': 'sandbox' })
        .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    } catch (cause) {
      return failed(reply, cause, 'Error reading file');
    }
  });

  const zipped = { params: ById, querystring: z.object({ path: FilePath.optional() }) };
  app.get('/api/conversations/:id/zip-directory', { schema: zipped }, async ({ params, query }, reply) => {
    const workspace = await workspaceOf(context, params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    const folder = workspacePath(query.path ?? '');
    try {
      const { zipWorkspace } = await import('./zip-workspace.ts');
      const zip = await zipWorkspace(workspace, context.clock.now(), folder);
      const name = folder === '.' ? 'workspace' : folder.replace(/\/+$/, '');
      return reply
        .type('application/zip')
        .header('content-disposition', attachment(`${name}.zip`))
        .send(zip);
    } catch (cause) {
      return reply.code(fileFailureStatus(cause)).send(failureWith(`Error creating the zip: ${wordsOf(cause)}`));
    }
  });
};

/** By its last name; in a form of the header that takes any character. */
function attachment(path: string): string {
  const name = path.split('/').findLast((part) => part !== '') ?? 'file';
  const plain = name.replaceAll(/[^\w.-]/g, '_');
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`}`;
}

function wordsFor(count: number): string {
  if (count === 0) return 'No files were uploaded';
  return count === 1 ? 'File uploaded successfully' : 'Files uploaded successfully';
}
