import { ConversationConfig, Failure, VscodeUrl, WebHosts } from '@tendon/protocol';
import { z } from 'zod';
import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { SandboxPool } from '@tendon/runtime';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/request-parts.ts';
import { fail, failureWith } from '../platform/http/failure.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { hostnameOf, isLoopbackName } from '../platform/loopback.ts';
import { entryPath } from './authorize-preview.ts';
import { createPreviewKeys } from './preview-keys.ts';
import { LOOPBACK_SITE, previewOrigin, type PreviewPort } from '../platform/preview-site.ts';
import type { HttpConfig, SandboxesConfig } from '../platform/config/config.ts';

/** What frontends ask beside a conversation's events: what is served, and what this server has little to say to. */
export const conversationPanelRoutes: Routes<LinkContext & { readonly conversations: Conversations }> = (app, context) => {
  const { conversations } = context;
  const answering = <T extends z.ZodType>(answer: T) => ({ params: ById, response: { 200: answer, '4xx': Failure } });
  const exists = async (id: string) => (await conversations.get(id)) !== undefined;

  app.get('/api/conversations/:id/config', { schema: answering(ConversationConfig) }, async ({ params: { id } }, reply) =>
    (await exists(id)) ? { runtime_id: null, session_id: id } : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  app.get('/api/conversations/:id/web-hosts', { schema: answering(WebHosts) }, async ({ params: { id }, headers }, reply) =>
    (await exists(id)) ? webHosts(context, id, headers.host ?? '') : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  app.get('/api/conversations/:id/vscode-url', { schema: answering(VscodeUrl) }, async ({ params: { id }, headers }, reply) =>
    (await exists(id)) ? vscodeUrl(context, id, headers.host ?? '') : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  // There are no experiments; clients want to hear that their choice was noted.
  app.post('/api/conversations/:id/exp-config', { schema: answering(z.boolean()) }, async ({ params: { id } }, reply) =>
    (await exists(id)) ? true : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  const noAnalyzer = { schema: { params: ById.extend({ '*': z.string() }), response: { 404: Failure } } };
  app.all('/api/conversations/:id/security/*', noAnalyzer, async (_request, reply) =>
    reply.code(404).send(failureWith('Security analyzer not initialized')),
  );
};

interface LinkContext {
  readonly config: HttpConfig & SandboxesConfig;
  readonly runtimes: SandboxPool;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
}

const LIST_MS = 5000;

const NO_DOMAIN =
  'Previews live at names below localhost, which from here is another machine. Set TENDON_PREVIEW_DOMAIN to a name all of whose subdomains lead to this server, or reach it through a tunnel to localhost.';

/** The signed links of one conversation, for a client that reached the server at `host`; or the sentence why there can be none. */
function previewLinks({ config, jwtSecret, clock }: LinkContext, id: string, host: string): ((port: PreviewPort) => string) | string {
  if (config.previews.domain === LOOPBACK_SITE.domain && !isLoopbackName(hostnameOf(host) ?? '')) return NO_DOMAIN;
  const keys = createPreviewKeys(jwtSecret, clock);
  const label = keys.labelOf(id);
  return (port) => previewOrigin({ port, label }, config.previews, host) + entryPath(keys.tokenFor(id, port));
}

/**
 * What the conversation's programs serve now, by link, and the one link that leads to whatever is served first, under the port 0:
 * frontends ask once, before anything is served, and look behind every link until something answers. Starts nothing.
 */
async function webHosts(context: LinkContext, id: string, host: string): Promise<{ hosts: Record<string, number>; error?: string }> {
  const links = previewLinks(context, id, host);
  if (typeof links === 'string') return { hosts: {}, error: links };
  const served = await context.runtimes
    .ports(id)
    ?.list({ signal: AbortSignal.timeout(LIST_MS) })
    .catch(() => []);
  return { hosts: Object.fromEntries([...(served ?? []).map(({ port }) => [links(port), port] as const), [links('app'), 0]]) };
}

/**
 * The editor's page, started if need be; or why there is none. While the sandbox does not run the link leads to a page that waits for it:
 * frontends ask once.
 */
async function vscodeUrl(context: LinkContext, id: string, host: string): Promise<{ vscode_url: string | null; error?: string }> {
  const links = previewLinks(context, id, host);
  if (typeof links === 'string') return { vscode_url: null, error: links };
  const { runtime, sandbox } = context.config;
  if (runtime === 'none' || !sandbox.plugins.includes('vscode')) return { vscode_url: null, error: 'This server offers no editor.' };
  const started = await context.runtimes.ports(id)?.startPlugin('vscode');
  if (!started) return { vscode_url: links('editor') };
  if (!started.ok) return { vscode_url: null, error: started.reason };
  if (!started.page) return { vscode_url: null, error: 'The editor did not say where its page is.' };
  return { vscode_url: links(started.page.port) + started.page.path };
}
