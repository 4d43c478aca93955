import { Failure, UploadAnswer } from '@tendon/protocol';
import { fileFailureStatus, wordsOf } from '../sandboxes/file-failure.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/conversation-param.ts';
import { failureWith, sendFailure } from '../platform/http/failure.ts';
import { workspaceOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import type { Clock } from '@tendon/core';

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
        files.write(name, bytes, { signal: AbortSignal.timeout(WRITE_MS) }),
      );
      const uploaded_files = taken.uploaded.map((name) => `${workspace.root}/${name}`);
      if (uploaded_files.length + taken.skipped.length === 0) return reply.code(400).send(failureWith('There is no file in the request'));
      return { message: wordsFor(uploaded_files.length), uploaded_files, skipped_files: [...taken.skipped] };
    } catch (cause) {
      return reply.code(400).send(failureWith(`Error uploading files: ${wordsOf(cause)}`));
    }
  });

  app.get('/api/conversations/:id/zip-directory', { schema: { params: ById } }, async ({ params }, reply) => {
    const workspace = await workspaceOf(context, params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    try {
      const { zipWorkspace } = await import('./zip-workspace.ts');
      const zip = await zipWorkspace(workspace, context.clock.now());
      return reply.type('application/zip').header('content-disposition', 'attachment; filename="workspace.zip"').send(zip);
    } catch (cause) {
      return reply.code(fileFailureStatus(cause)).send(failureWith(`Error creating the zip: ${wordsOf(cause)}`));
    }
  });
};

function wordsFor(count: number): string {
  if (count === 0) return 'No files were uploaded';
  return count === 1 ? 'File uploaded successfully' : 'Files uploaded successfully';
}
