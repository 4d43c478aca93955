import { fastifySwagger } from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { createApp } from './app.ts';
import type { ServerContext } from './context.ts';

/** OpenAPI of every REST route: the routes are registered once more on an app that never listens and only records them. */
export async function openApiDocument(context: ServerContext): Promise<object> {
  const app = await createApp(context, async (recording) => {
    await recording.register(fastifySwagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'Tendon', version: context.version, description: 'Agent server for software development.' },
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
