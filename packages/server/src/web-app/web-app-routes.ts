import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Settings } from '@tendon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Routes } from '../platform/http/app.ts';
import { enterByToken, needsLogin } from '../access/browser-session.ts';
import { fail } from '../platform/http/failure.ts';
import { askAgainPage, LOGIN_HEADERS, loginPage, safePath } from '../access/login-page.ts';
import type { AdmitContext } from '../platform/http/admit.ts';
import { type Encoding, ENCODINGS, openWebFiles, type WebFile, type WebFiles } from './web-files.ts';

const FOREVER = 'public, max-age=2592000, immutable';
const NEVER = 'no-cache, no-store, must-revalidate, max-age=0';

interface WebAppContext extends AdmitContext {
  /** The folder of the built web app, if there is one. */
  readonly webRoot: string | undefined;
  readonly settings: { readonly current: Pick<Settings, 'connected_servers'> | undefined };
}

/** The web app at `/`; a path that is no file is one of its pages. Unknown paths under `/api` are JSON. */
export const webAppRoutes: Routes<WebAppContext> = (app, context) => {
  const { webRoot, config } = context;
  const hidden = { schema: { hide: true } };
  for (const url of ['/api', '/api/*']) app.all(url, hidden, (_request, reply) => fail(reply, 'NOT_FOUND'));
  let opening: Promise<WebFiles | undefined> | undefined;
  app.get('/*', hidden, async (request, reply) => {
    opening ??= openWebFiles(webRoot, config.previews, webRoot !== undefined && webRoot === config.webRoot);
    const web = await opening;
    if (!web) {
      opening = undefined;
      if (!isPage(request)) return fail(reply, 'NOT_FOUND');
      if ((await enterByToken(context, request, reply)) || sendLogin(context, request, reply)) return reply;
      return reply.header('cache-control', NEVER).type('text/html; charset=utf-8').send(NOT_BUILT);
    }
    return serve(web, context, request, reply);
  });
};

async function serve(web: WebFiles, context: WebAppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = request.url.split('?', 1)[0]!;
  const file = path === '/index.html' ? undefined : web.files.get(path);
  if (file) return sendFile(web, file, { path, context, request, reply });
  const page = isPage(request);
  if (page && ((await enterByToken(context, request, reply)) || sendLogin(context, request, reply))) return reply;
  return page ? sendFile(web, web.files.get('/index.html')!, { path: '/index.html', context, request, reply }) : fail(reply, 'NOT_FOUND');
}

/**
 * Whether a path that is no file stands for a page of the app. What a program asks for, and what is meant for another frontend (its
 * translations, a service that is not here), is not there: a page in its place would be taken for an answer.
 */
function isPage({ url, headers }: FastifyRequest): boolean {
  const path = url.split('?', 1)[0]!;
  if (path === '/' || path === '/index.html') return true;
  if (/\.[a-z0-9]+$/i.test(path) || path.startsWith('/assets/')) return false;
  const { accept = '*/*', 'sec-fetch-dest': destination } = headers;
  // The app's worker asks for a page that somebody opens as programs ask, but in the words of the browser.
  if (accept.includes('text/html')) return true;
  return destination !== 'empty' && !/^\s*application\/(?:[a-z.+-]*\+)?json\b/i.test(accept);
}

/** True: the caller has to sign in first, and was sent the login page. */
function sendLogin(context: WebAppContext, request: FastifyRequest, reply: FastifyReply): boolean {
  const needed = needsLogin(context, request);
  if (needed === undefined) return false;
  const page = needed === 'again' ? askAgainPage() : loginPage(safePath(request.url), { provider: context.config.oidc?.issuer.host });
  void reply
    .code(needed === 'again' ? 200 : 401)
    .headers(LOGIN_HEADERS)
    .type('text/html; charset=utf-8')
    .send(page);
  return true;
}

interface Asked {
  readonly path: string;
  readonly context: WebAppContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function sendFile(web: WebFiles, file: WebFile, { path, context, request, reply }: Asked): Promise<FastifyReply> {
  const encoding = ENCODINGS.find((one) => file.encoded[one] !== undefined && accepts(request, one));
  const source = encoding === undefined ? file.path : file.encoded[encoding]!;
  const { size, mtimeMs } = await stat(source);
  const tag = `"${[size.toString(36), Math.trunc(mtimeMs).toString(36), encoding].filter(Boolean).join('-')}"`;
  void reply.type(file.type).header('etag', tag).header('content-length', size);
  if (encoding !== undefined) void reply.header('content-encoding', encoding);
  if (Object.keys(file.encoded).length > 0)
    void reply.header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '));
  if (path.startsWith('/assets/')) void reply.header('cache-control', FOREVER);
  else void reply.header('cache-control', NEVER).header('pragma', 'no-cache').header('expires', '0');
  if (file.type.startsWith('text/html')) {
    const policy = web.policy(context.settings.current?.connected_servers ?? []);
    void reply.header('content-security-policy', policy).header('x-frame-options', 'DENY');
  }
  if (request.headers['if-none-match'] === tag)
    return reply.removeHeader('content-length').removeHeader('content-encoding').code(304).send();
  return reply.send(createReadStream(source));
}

/** Whether the client takes this encoding. It must name it: `*` alone gets the file as it is. */
function accepts({ headers }: FastifyRequest, encoding: Encoding): boolean {
  const offered = String(headers['accept-encoding'] ?? '').toLowerCase();
  return offered.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((word) => word.trim());
    return name === encoding && !parameters.some((word) => /^q=0(?:\.0*)?$/.test(word));
  });
}

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tendon</title>
<body style="font: 16px/1.5 system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>Tendon is running</h1>
<p>The web app is not built. Run <code>npm run build</code> and load this page again.</p>
<p>The server itself is ready: <code>websocat ws://127.0.0.1:3000/ws</code>, Socket.IO and <a href="/api/openapi.json">REST</a> work without it.</p>
</body></html>
`;
