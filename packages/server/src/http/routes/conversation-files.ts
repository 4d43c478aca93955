import { isUtf8 } from 'node:buffer';
import type { Runtime } from '@tendon/core';
import { ConversationConfig, Failure, FileContent, FileList, GitChanges, VscodeUrl, WebHosts } from '@tendon/protocol';
import { z } from 'zod';
import type { Engine } from '../../engine.ts';
import type { Routes, ServerContext } from '../context.ts';
import { ById } from '../conversation-param.ts';
import { fail } from '../failure.ts';

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 15_000;

/** What is in a conversation's workspace. The sandbox reads it, never this process: links in a workspace lead wherever the agent likes. */
export const conversationFileRoutes: Routes = (app, context) => {
  const { engine } = context;
  const sandbox = engine.conversations;

  app.get('/api/conversations/:id/config', { schema: { params: ById, response: { 200: ConversationConfig } } }, async ({ params }) => ({
    runtime_id: null,
    session_id: params.id,
  }));
  app.get('/api/conversations/:id/web-hosts', { schema: { params: ById, response: { 200: WebHosts } } }, async () => ({ hosts: {} }));
  app.get('/api/conversations/:id/vscode-url', { schema: { params: ById, response: { 200: VscodeUrl } } }, async () => ({
    vscode_url: null,
  }));
  app.get('/api/conversations/:id/git/changes', { schema: { params: ById, response: { 200: GitChanges } } }, async () => []);
  app.get('/api/v1/sandboxes', { schema: { response: { 200: z.array(z.unknown()) } } }, async () => []);

  app.get(
    '/api/conversations/:id/list-files',
    {
      schema: {
        params: ById,
        querystring: z.object({ path: z.string().max(4096).optional() }),
        response: { 200: FileList, '4xx': Failure, 500: Failure },
      },
    },
    async ({ params, query }, reply) => {
      if (!(await sandbox.get(params.id))) return fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
      const runtime = await runtimeOf(context, params.id);
      if (!runtime) return fail(reply, 'RUNTIME_NOT_READY');
      try {
        return listing(await runtime.files.list(query.path || '.', { signal: AbortSignal.timeout(TIMEOUT_MS) }), query.path);
      } catch (cause) {
        return reply.code(500).send(shown(`Error listing files: ${wordsOf(cause)}`));
      }
    },
  );

  app.get(
    '/api/conversations/:id/select-file',
    {
      schema: {
        params: ById,
        querystring: z.object({ file: z.string().min(1).max(4096) }),
        response: { 200: FileContent, '4xx': Failure, 500: Failure },
      },
    },
    async ({ params, query }, reply) => {
      if (!(await sandbox.get(params.id))) return fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
      const runtime = await runtimeOf(context, params.id);
      if (!runtime) return fail(reply, 'RUNTIME_NOT_READY');
      try {
        const bytes = await runtime.files.read(query.file, { signal: AbortSignal.timeout(TIMEOUT_MS), maxBytes: MAX_FILE_BYTES });
        if (bytes.includes(0) || !isUtf8(bytes)) return reply.code(415).send(shown(`Unable to open binary file: ${query.file}`));
        return { code: Buffer.from(bytes).toString('utf8') };
      } catch (cause) {
        return reply.code(500).send(shown(`Error opening file: ${wordsOf(cause)}`));
      }
    },
  );
};

/** The live sandbox, or one started now: an old conversation's files can be looked at. */
async function runtimeOf(
  { engine, logger }: { readonly engine: Engine } & Pick<ServerContext, 'logger'>,
  id: string,
): Promise<Runtime | undefined> {
  try {
    return engine.runtimes.current(id) ?? (await engine.runtimes.acquire(id, { signal: AbortSignal.timeout(TIMEOUT_MS) }));
  } catch (cause) {
    logger.warn({ err: cause, conversation: id }, 'the sandbox did not start');
    return undefined;
  }
}

const HIDDEN = new Set(['.git/', '.DS_Store', 'node_modules/', '__pycache__/', 'lost+found/', '.vscode/']);

/** Folders first; entries of a named folder carry its path. */
function listing(entries: readonly string[], path = ''): string[] {
  const prefix = path === '' || path === '.' ? '' : `${path.replace(/\/+$/, '')}/`;
  const shownEntries = entries.filter((entry) => !HIDDEN.has(entry)).toSorted((a, b) => (a < b ? -1 : 1));
  const folders = shownEntries.filter((entry) => entry.endsWith('/'));
  return [...folders, ...shownEntries.filter((entry) => !entry.endsWith('/'))].map((entry) => prefix + entry);
}

function shown(text: string): Failure {
  return { detail: text, error: text, message: text };
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
