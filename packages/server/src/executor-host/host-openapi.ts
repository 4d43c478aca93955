import { fastifySwagger } from '@fastify/swagger';
import { EXECUTOR_API } from '@tendon/runtime';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { createHostApp } from './host-app.ts';
import { systemClock } from '../system-clock.ts';
import type { HostContext } from './host-context.ts';
import { HOST_PATIENCE } from './host-patience.ts';

const DESCRIPTION = `What \`tendon executor\` answers. The routes at the root are those of one sandbox of its own, under the names that
such programs have always had. Below \`/sandboxes/{incarnation}\` are the sandboxes that it keeps for servers elsewhere.`;

/** Nothing of it is looked at while routes are registered. */
const NOTHING = {
  access: { host: '', allowedHosts: [], key: undefined },
  patience: HOST_PATIENCE,
  clock: systemClock,
} as unknown as HostContext;

/** OpenAPI of every route: they are registered once more on an app that never listens and only records them. */
export async function hostOpenApi(): Promise<object> {
  const app = await createHostApp(NOTHING, async (recording) => {
    await recording.register(fastifySwagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'Tendon executor', version: String(EXECUTOR_API), description: DESCRIPTION.replaceAll('\n', ' ') },
        components: { securitySchemes: { sessionKey: { type: 'apiKey', in: 'header', name: 'X-Session-API-Key' } } },
        security: [{ sessionKey: [] }],
      },
      transform: jsonSchemaTransform,
    });
  });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}
