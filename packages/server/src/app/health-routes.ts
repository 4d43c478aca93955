import { Alive, ServerInfo as WireServerInfo } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../platform/http/app.ts';
import type { ServerContext } from './context.ts';
import { sendJsonText } from '../platform/http/failure.ts';
import { processResources } from '../platform/metrics.ts';

/** The last fields are ours. */
const ServerInfo = WireServerInfo.extend({
  version: z.string(),
  model: z.string(),
  sandbox: z.object({ driver: z.string(), strength: z.enum(['container', 'os-sandbox', 'none']), description: z.string() }),
  /** After so many days without an event a conversation is deleted; missing: none is. */
  retention_days: z.number().int().optional(),
});

const Ready = z.object({ status: z.enum(['ready', 'unready']), reason: z.enum(['draining', 'storage']).optional() });

/** The paths of the routes below, which supervisors and load balancers ask for again and again. */
export const PROBES: ReadonlySet<string> = new Set(['/alive', '/health', '/ready', '/server_info', '/metrics']);

/** Liveness, readiness, what the machine has left, and counters for Prometheus. */
export const healthRoutes: Routes<ServerContext> = (app, context) => {
  app.get('/alive', { schema: { response: { 200: Alive } } }, async () => ({ status: 'ok' as const }));
  app.get('/health', { schema: { response: { 200: z.literal('OK') } } }, async (_request, reply) => sendJsonText(reply, '"OK"'));
  app.get('/ready', { schema: { response: { 200: Ready, 503: Ready } } }, async (_request, reply) => {
    const reason = await context.readiness.problem();
    void reply.header('cache-control', 'no-store');
    if (!reason) return { status: 'ready' as const };
    return reply.code(503).header('retry-after', '1').send({ status: 'unready', reason });
  });
  app.get('/server_info', { schema: { response: { 200: ServerInfo } } }, () => serverInfo(context));
  app.get('/metrics', async (_request, reply) => {
    const { type, text } = await context.metrics.render();
    return reply.type(type).send(text);
  });
};

async function serverInfo({ config, defaultModel, sandbox, metrics, clock, version }: ServerContext): Promise<z.output<typeof ServerInfo>> {
  const { retentionDays } = config.governance;
  return {
    uptime: process.uptime(),
    idle_time: metrics.idleSeconds(clock.now()),
    resources: await processResources(config.home),
    version,
    model: defaultModel(),
    sandbox,
    ...(retentionDays !== undefined && { retention_days: retentionDays }),
  };
}
