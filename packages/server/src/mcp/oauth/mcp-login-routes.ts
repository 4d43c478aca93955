import { randomBytes } from 'node:crypto';
import {
  BeginMcpLogin,
  BegunMcpLogin,
  catalogError,
  EndMcpLogin,
  Failure,
  McpLoginList,
  type McpConfig,
  type McpLogin,
} from '@tendon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { enabledPlugins } from '../../extensions/installed-plugins.ts';
import { cookiesIn } from '../../platform/auth/session-cookie.ts';
import type { Routes } from '../../platform/http/app.ts';
import { failureWith, sendFailure } from '../../platform/http/failure.ts';
import type { Logger } from '../../platform/logger.ts';
import { usualMcpServers } from '../conversation-tools.ts';
import { mcpServers } from '../mcp-server.ts';
import { LOGIN_MS, type McpLogins } from './mcp-logins.ts';
import { LoginProblem } from './oauth-fetch.ts';

interface LoginContext {
  readonly config: { readonly home: string; readonly mcpServers: McpConfig | undefined };
  readonly settings: { readonly mcpServers: McpConfig };
  readonly mcpLogins: McpLogins;
  readonly logger: Logger;
}

const CALLBACK = '/mcp/oauth/callback';
/** A login that a browser began is finished in it. */
const COOKIE = 'tendon_mcp_login';
const Done = z.object({ message: z.string() });
const Callback = z.object({ state: z.string().max(200), code: z.string().max(4_000), iss: z.string().max(2_000) }).partial();

/** Ours: a person logs in to the MCP servers that ask for it, by OAuth. */
export const mcpLoginRoutes: Routes<LoginContext> = (app, context) => {
  const answers = { '4xx': Failure, 502: Failure };
  app.get('/api/mcp/logins', { schema: { response: { 200: McpLoginList } } }, async () => ({ servers: await serversOf(context) }));
  app.post('/api/mcp/logins', { schema: { body: BeginMcpLogin, response: { 200: BegunMcpLogin, ...answers } } }, async (request, reply) =>
    begin(request as FastifyRequest & { readonly body: BeginMcpLogin }, reply, context),
  );
  app.delete('/api/mcp/logins', { schema: { querystring: EndMcpLogin, response: { 200: Done, ...answers } } }, async ({ query }, reply) => {
    const isEnded = await context.mcpLogins.logOut((await serverNamed(query.server, context))?.url ?? query.server);
    return isEnded ? { message: 'Logged out' } : reply.code(404).send(failureWith('There is no login to this server.'));
  });
  app.get(CALLBACK, { schema: { hide: true } }, (request, reply) => finish(request, reply, context));
};

async function begin(
  { body, headers, principal }: FastifyRequest & { readonly body: BeginMcpLogin },
  reply: FastifyReply,
  context: LoginContext,
) {
  const { server: named, client_id, client_secret } = body;
  const server = await serverNamed(named, context);
  if (!server) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'the settings name no such MCP server with an address'));
  if (server.state === 'key') return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'this MCP server has an api_key, which counts'));
  const isSafe = headers['x-forwarded-proto'] === 'https' || headers.origin?.startsWith('https:');
  const redirect = `${isSafe ? 'https' : 'http'}://${headers.host ?? 'localhost'}${CALLBACK}`;
  const client = client_id === undefined ? undefined : { client_id, ...(client_secret !== undefined && { client_secret }) };
  const browser = principal.login ? randomBytes(16).toString('base64url') : undefined;
  try {
    const authorization_url = await context.mcpLogins.begin({ url: server.url, redirect, client }, browser);
    // `Lax`: it has to come along when the authorization server leads back here.
    const cookie = `${COOKIE}=${browser}; Path=${CALLBACK}; Max-Age=${LOGIN_MS / 1000}; HttpOnly; SameSite=Lax${isSafe ? '; Secure' : ''}`;
    if (browser !== undefined) void reply.header('set-cookie', cookie);
    return { authorization_url, expires_in: LOGIN_MS / 1000 };
  } catch (cause) {
    if (!(cause instanceof LoginProblem)) throw cause;
    return reply.code(502).send(failureWith(`The login to ${server.name ?? server.url} cannot begin: ${cause.message}.`));
  }
}

/** A browser comes from the authorization server, with no key: what it brings is worth as much as its state. */
async function finish({ query, headers }: FastifyRequest, reply: FastifyReply, { mcpLogins, logger }: LoginContext): Promise<FastifyReply> {
  const { state = '', code, iss } = Callback.safeParse(query).data ?? {};
  const browser = cookiesIn(headers.cookie).find(([name]) => name === COOKIE)?.[1];
  try {
    await mcpLogins.finish({ state, code, iss, browser });
    return sendPage(reply, 200, 'You are logged in. This page can be closed.');
  } catch (cause) {
    if (!(cause instanceof LoginProblem)) logger.error({ err: cause }, 'a login to an MCP server failed');
    const why = cause instanceof LoginProblem ? cause.message : 'something went wrong in this server';
    return sendPage(reply, 400, `You are not logged in: ${why}.`);
  }
}

const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const;

function sendPage(reply: FastifyReply, status: number, words: string): FastifyReply {
  const text = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tendon</title><h1>MCP server</h1><p>${text}</p></html>\n`;
  return reply.code(status).headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page);
}

async function serverNamed(named: string, context: LoginContext): Promise<McpLogin | undefined> {
  const servers = await serversOf(context);
  return servers.find(({ name }) => name === named) ?? servers.find(({ url }) => url === named);
}

/** Those of the configuration, the settings and the plugins, then addresses that nothing names any more. */
async function serversOf({ config, settings, mcpLogins }: LoginContext): Promise<McpLogin[]> {
  const all = mcpServers(usualMcpServers({ config, settings, plugins: await enabledPlugins(config.home) }));
  const remote = all.filter((server) => server.kind !== 'stdio');
  const named = remote.map(({ name, url, apiKey }) => ({ name, url, hasKey: apiKey !== undefined }));
  const left = mcpLogins.urls
    .filter((url) => !remote.some((server) => server.url === url))
    .map((url) => ({ name: null, url, hasKey: false }));
  return [...named, ...left].map(({ name, url, hasKey }) => {
    const at = hasKey ? undefined : mcpLogins.madeAt(url);
    return { name, url, state: hasKey ? 'key' : at ? 'logged_in' : 'logged_out', logged_in_at: at?.toISOString() ?? null };
  });
}
