import { availableParallelism, loadavg, totalmem } from 'node:os';
import { Alive, Failure, ServerInfo } from '@tendon/protocol';
import { EXECUTOR_API, type HostCapacity } from '@tendon/runtime';
import { z } from 'zod';
import { processResources } from '@tendon/server/platform';
import type { HostRoutes } from '../host-context.ts';

const Capacity = z
  .object({
    draining: z.boolean().describe('It takes no conversation that it does not have.'),
    sandboxes: z.number().describe('That run.'),
    max_sandboxes: z.number(),
    memory_bytes: z.number(),
    free_memory_bytes: z.number(),
    load: z.number().describe('Of the last minute, for each processor.'),
  })
  .describe('What is left for more sandboxes: by this servers choose a host.');

/** The last four fields are ours. */
const Info = ServerInfo.extend({
  executor_api: z.number().describe('Changes when a server of another version would misunderstand this one.'),
  version: z.string(),
  capacity: Capacity,
  sandbox: z.object({
    driver: z.string(),
    strength: z.enum(['container', 'os-sandbox', 'none']).describe('What keeps the work of agents inside, as it was probed.'),
    description: z.string(),
    limits: z.array(z.string()).describe('What is not isolated, in sentences.'),
    sleeps: z
      .enum(['ended', 'in-place'])
      .nullable()
      .describe('What becomes of idle sandboxes: `ended` = hibernated, `in-place` = suspended; null where they keep running.'),
    mounts_read_only: z.boolean().describe('Whether a sandbox can be started so that nothing inside changes its workspace.'),
    network: z
      .object({ mode: z.enum(['none', 'allowlist', 'full']), is_policed: z.boolean() })
      .describe('What its operator gives sandboxes at most; only where it is policed can one have less.'),
  }),
});

export const hostInfoRoutes: HostRoutes = (app, context) => {
  const { home, clock, version, sandbox, sandboxes } = context;
  let lastUsed = clock.now().getTime();
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.isPublic !== true && request.routeOptions.url !== '/server_info') lastUsed = clock.now().getTime();
  });

  const alive = { summary: 'Whether it answers. The only route without a key.', response: { 200: Alive } };
  app.get('/alive', { config: { isPublic: true }, schema: alive }, async () => ({ status: 'ok' as const }));

  const info = { summary: 'What this host is, has left, and how it keeps agents inside.', response: { 200: Info, '4xx': Failure } };
  app.get('/server_info', { schema: info }, async () => ({
    uptime: process.uptime(),
    idle_time: (clock.now().getTime() - lastUsed) / 1000,
    resources: await processResources(home),
    executor_api: EXECUTOR_API,
    version,
    capacity: { ...sandboxes.capacity(), ...machineCapacity() },
    sandbox: { ...sandbox, limits: [...sandbox.limits] },
  }));

  const drained = {
    summary: 'Makes this host take no conversation that it does not have, or take them again; it stays so over a restart.',
    body: z.object({ draining: z.boolean() }),
    response: { 204: z.null(), '4xx': Failure },
  };
  app.put('/drain', { schema: drained }, async ({ body: { draining } }, reply) => {
    await sandboxes.drain(draining);
    return reply.code(204).send(null);
  });

  app.get('/openapi.json', { schema: { hide: true } }, () => context.openApi());
};

/** Of the machine, or of the control group that this program is in. */
function machineCapacity(): Omit<HostCapacity, 'draining' | 'sandboxes' | 'max_sandboxes'> {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 && constrained < totalmem() ? constrained : totalmem();
  const load = loadavg()[0]! / availableParallelism();
  return { memory_bytes: memory, free_memory_bytes: Math.min(process.availableMemory(), memory), load: Math.round(load * 100) / 100 };
}
