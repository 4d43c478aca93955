import { json, buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { catalogError, Failure, type UploadAnswer } from '@tendon/protocol';
import { z } from 'zod';
import type { App, Routes } from '../../../platform/http/app.ts';
import { fileFailureStatus, wordsOf } from '../../../sandboxes/file-failure.ts';
import { fail, failureWith, sendFailure } from '../../../platform/http/failure.ts';
import { conversationMeant, type BearerContext } from './bearer.ts';
import { forward, sendForwarded, type ForwardContext } from './forward.ts';
import type { SandboxRuntimes } from '@tendon/runtime';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 20 * 1024 * 1024;
const MULTIPART = 'multipart/form-data';

export interface UploadContext extends BearerContext, ForwardContext {
  readonly runtimes: SandboxRuntimes;
}

/** Uploads of 2024, into the workspace of the session: one `file` (opendevin-2024-05), several `files` (opendevin-2024-06 and later). */
export const uploadRoutes: Routes<UploadContext> = (app, context) => {
  void app.register(async (scope: App) => {
    // The body is read by whoever answers.
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
      await runtime.files.write(name, new Uint8Array(await file.arrayBuffer()), { signal: AbortSignal.timeout(TIMEOUT_MS) });
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
