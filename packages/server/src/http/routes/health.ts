import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { Alive, ServerInfo as WireServerInfo } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes, ServerContext } from '../context.ts';
import { sendJsonText } from '../failure.ts';

/** The last three fields are ours. */
const ServerInfo = WireServerInfo.extend({
  version: z.string(),
  model: z.string(),
  sandbox: z.object({ driver: z.string(), strength: z.enum(['container', 'os-sandbox', 'none']), description: z.string() }),
});

/** Liveness, what the machine has left, and counters for Prometheus. */
export const healthRoutes: Routes = (app, context) => {
  const isPublic = { config: { isPublic: true } };
  app.get('/alive', { ...isPublic, schema: { response: { 200: Alive } } }, async () => ({ status: 'ok' as const }));
  app.get('/health', { ...isPublic, schema: { response: { 200: z.literal('OK') } } }, async (_request, reply) =>
    sendJsonText(reply, '"OK"'),
  );
  app.get('/server_info', { schema: { response: { 200: ServerInfo } } }, () => serverInfo(context));
  app.get('/metrics', async (_request, reply) => {
    const { type, text } = await context.metrics.render();
    return reply.type(type).send(text);
  });
};

async function serverInfo({ config, engine, metrics, clock, version }: ServerContext): Promise<z.output<typeof ServerInfo>> {
  const cpu = process.cpuUsage();
  const uptime = process.uptime();
  const memory = process.memoryUsage();
  const disk = await statfs(config.home).catch(() => undefined);
  const total = disk ? disk.blocks * disk.bsize : 0;
  const free = disk ? disk.bavail * disk.bsize : 0;
  const usage = process.resourceUsage();
  return {
    uptime,
    idle_time: metrics.idleSeconds(clock.now()),
    resources: {
      cpu_percent: ((cpu.user + cpu.system) / 1e6 / uptime) * 100,
      memory: { rss: memory.rss, vms: memory.heapTotal + memory.external, percent: (memory.rss / totalmem()) * 100 },
      disk: { total, used: total - free, free, percent: total ? ((total - free) / total) * 100 : 0 },
      io: { read_bytes: usage.fsRead * 512, write_bytes: usage.fsWrite * 512 },
    },
    version,
    model: engine.defaultModel(),
    sandbox: engine.sandbox,
  };
}
