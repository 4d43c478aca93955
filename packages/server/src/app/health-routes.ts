import { Alive, ServerInfo as WireServerInfo } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../platform/http/app.ts';
import type { ServerContext } from './context.ts';
import { sendJsonText } from '../platform/http/failure.ts';
import { processResources } from '../platform/process-resources.ts';

/** The last three fields are ours. */
const ServerInfo = WireServerInfo.extend({
  version: z.string(),
  model: z.string(),
  sandbox: z.object({ driver: z.string(), strength: z.enum(['container', 'os-sandbox', 'none']), description: z.string() }),
});

/** Liveness, what the machine has left, and counters for Prometheus. */
export const healthRoutes: Routes<ServerContext> = (app, context) => {
  app.get('/alive', { schema: { response: { 200: Alive } } }, async () => ({ status: 'ok' as const }));
  app.get('/health', { schema: { response: { 200: z.literal('OK') } } }, async (_request, reply) => sendJsonText(reply, '"OK"'));
  app.get('/server_info', { schema: { response: { 200: ServerInfo } } }, () => serverInfo(context));
  app.get('/metrics', async (_request, reply) => {
    const { type, text } = await context.metrics.render();
    return reply.type(type).send(text);
  });
};

async function serverInfo({ config, defaultModel, sandbox, metrics, clock, version }: ServerContext): Promise<z.output<typeof ServerInfo>> {
  return {
    uptime: process.uptime(),
    idle_time: metrics.idleSeconds(clock.now()),
    resources: await processResources(config.home),
    version,
    model: defaultModel(),
    sandbox,
  };
}
