import { extname, posix } from 'node:path';
import { Failure } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { type App, failureWith } from '@tendon/server/platform';
import { fileFailureStatus, wordsOf } from '@tendon/server/sandboxes';
import type { HostContext, HostRoutes } from '../host-context.ts';
import { ownRuntime } from './own-sandbox.ts';

const LIMITS = { maxFiles: 1, maxFileBytes: 100 * 1024 * 1024 };
const FILE_MS = 60_000;
const MAX_VIEW_BYTES = 32 * 1024 * 1024;
const failures = { '4xx': Failure, '5xx': Failure };
const FilePath = z.string().max(4096);
const AbsolutePath = FilePath.startsWith('/', 'an absolute path is expected');

/** What a browser shows by itself and cannot run. Everything else is text or bytes. */
const SHOWN: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.pdf': 'application/pdf',
};

/** Files of the host's own sandbox. The sandbox reads and writes them, never this process. */
export const ownFileRoutes: HostRoutes = (app, context) => {
  listing(app, context);
  upload(app, context);
  download(app, context);
  view(app, context);
};

function listing(app: App, context: HostContext): void {
  const body = z.object({ path: FilePath.nullish().describe('Absolute, or relative to the workspace; without one the workspace.') });
  const schema = {
    summary: 'Names in a folder: folders first, with a final slash; none of a folder that does not exist.',
    body,
    response: { 200: z.array(z.string()), ...failures },
  };
  app.post('/list_files', { schema }, async (request, reply) => {
    const runtime = await ownRuntime(context, reply);
    if (!runtime) return reply;
    try {
      return [...(await runtime.files.list(request.body.path ?? '.', { signal: AbortSignal.timeout(FILE_MS) }))];
    } catch (cause) {
      if (fileFailureStatus(cause) === 404) return [];
      return failed(reply, cause);
    }
  });
}

function upload(app: App, context: HostContext): void {
  const querystring = z.object({
    destination: AbsolutePath.default('/workspace').describe('The folder it is put into; made when it is not there.'),
    recursive: z
      .stringbool()
      .default(false)
      .describe('It is a zip, and what is in it is wanted. So is every file whose name ends in `.zip`.'),
  });
  const answer = z.object({ filename: z.string(), destination: z.string(), recursive: z.boolean() });
  const schema = {
    summary: 'Takes one file, as the part `file` of multipart/form-data.',
    querystring,
    consumes: ['multipart/form-data'],
    response: { 200: answer, ...failures },
  };
  app.post('/upload_file', { schema }, async (request, reply) => {
    const { destination, recursive } = request.query;
    if (!request.headers['content-type']?.startsWith('multipart/form-data')) {
      return reply.code(400).send(failureWith('A file is sent as multipart/form-data, in a part named "file"'));
    }
    const runtime = await ownRuntime(context, reply);
    if (!runtime) return reply;
    const { takeUpload } = await import('@tendon/server/files');
    try {
      const taken = await takeUpload(request.headers, request.raw, LIMITS, async (name, bytes) => {
        const isZip = name.endsWith('.zip');
        if (recursive && !isZip) throw new Error('a recursive upload is a zip file');
        if (!isZip) return runtime.files.write(posix.join(destination, name), bytes, { signal: AbortSignal.timeout(FILE_MS) });
        const { unzipInto } = await import('@tendon/server/files');
        await unzipInto(runtime, destination, bytes, context.clock.now());
      });
      const [filename] = taken.uploaded;
      if (filename !== undefined) return { filename, destination, recursive };
      return reply.code(400).send(failureWith(taken.skipped[0]?.reason ?? 'There is no file in the request'));
    } catch (cause) {
      return reply.code(400).send(failureWith(wordsOf(cause)));
    }
  });
}

function download(app: App, context: HostContext): void {
  const schema = {
    summary: 'A folder as a zip, without its links; a file as a zip of that file.',
    querystring: z.object({ path: AbsolutePath }),
    produces: ['application/zip'],
    response: failures,
  };
  app.get('/download_files', { schema }, async ({ query: { path } }, reply) => {
    const runtime = await ownRuntime(context, reply);
    if (!runtime) return reply;
    try {
      const { zipWorkspace } = await import('@tendon/server/files');
      const zip = await zipWorkspace({ runtime, root: runtime.workspace }, context.clock.now(), path);
      const name = posix.basename(path) || 'files';
      const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name)}.zip`;
      return (reply as FastifyReply).type('application/zip').header('content-disposition', disposition).send(zip) as never;
    } catch (cause) {
      return failed(reply, cause);
    }
  });
}

function view(app: App, context: HostContext): void {
  const schema = {
    summary: 'A file for a browser to show: images and PDF as they are, everything else as plain text or bytes. Nothing in it can run.',
    querystring: z.object({ path: AbsolutePath }),
    response: failures,
  };
  app.get('/view', { schema }, async ({ query: { path } }, reply) => {
    const runtime = await ownRuntime(context, reply);
    if (!runtime) return reply;
    try {
      const signal = AbortSignal.timeout(FILE_MS);
      const bytes = Buffer.from(await runtime.files.read(path, { signal, maxBytes: MAX_VIEW_BYTES }));
      const plain = bytes.includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8';
      void reply.header('content-security-policy', "sandbox; default-src 'none'");
      return (reply as FastifyReply).type(SHOWN[extname(path).toLowerCase()] ?? plain).send(bytes) as never;
    } catch (cause) {
      return failed(reply, cause);
    }
  });
}

function failed(reply: unknown, cause: unknown): never {
  return (reply as FastifyReply).code(fileFailureStatus(cause)).send(failureWith(wordsOf(cause))) as never;
}
