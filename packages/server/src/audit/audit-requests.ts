import type { AuditOutcome } from '@tendon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from '../platform/http/client-of.ts';
import type { App } from '../platform/http/app.ts';
import type { Act, Audit } from './audit.ts';
import { AUDITED, type ActParts, type AuditedRoute } from './audited-routes.ts';

/** The answer waits for the entry: what a client has heard of is in the log. */
export function auditRequests(app: App, { record, failedLogin }: Pick<Audit, 'record' | 'failedLogin'>): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const { method, routeOptions, principal } = request;
    const { url } = routeOptions;
    const isSignedIn = url === '/login/oidc/callback' && principal?.userId !== undefined;
    const isLogin = isSignedIn || (url === '/login' && method === 'POST') || (url === '/*' && reply.hasHeader('set-cookie'));
    if (isLogin && reply.statusCode === 401) failedLogin(clientAddress(request.raw), 'login page');
    else if (isLogin) await record({ by: principal, action: 'login', outcome: outcomeOf(reply, payload) });
    const row = AUDITED[`${method} ${url ?? ''}`];
    if (row && principal) await record(actOf(row, request, reply, payload));
    return payload;
  });
}

function actOf(row: AuditedRoute, request: FastifyRequest, reply: FastifyReply, payload: unknown): Act {
  const parts: ActParts = {
    params: objectOf(request.params) as ActParts['params'],
    query: objectOf(request.query),
    body: objectOf(request.body),
    answer: row.isAnswered && typeof payload === 'string' ? objectOf(parsed(payload)) : {},
  };
  const target = row.target(parts);
  return {
    by: request.principal,
    action: row.action,
    target: typeof target === 'string' ? target : undefined,
    outcome: outcomeOf(reply, payload),
    detail: row.detail(parts),
  };
}

/** A deletion of nothing answers `false`. */
function outcomeOf({ statusCode }: FastifyReply, payload: unknown): AuditOutcome {
  if (statusCode >= 500) return 'failed';
  return statusCode >= 400 || payload === 'false' ? 'refused' : 'done';
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
