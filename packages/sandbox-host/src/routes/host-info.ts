import { Alive, Failure, ServerInfo } from '@tendon/protocol';
import { EXECUTOR_API } from '@tendon/runtime';
import { z } from 'zod';
import { processResources } from '@tendon/server/platform';
import type { HostRoutes } from '../host-context.ts';

/** The last three fields are ours. */
const Info = ServerInfo.extend({
  executor_api: z.number().describe('Changes when a server of another version would misunderstand this one.'),
  version: z.string(),
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
  const { home, clock, version, sandbox } = context;
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
    sandbox: { ...sandbox, limits: [...sandbox.limits] },
  }));

  app.get('/openapi.json', { schema: { hide: true } }, () => context.openApi());
};
