import type { FastifyInstance } from 'fastify';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

/** Makes an app that never listens; `prepare` goes before its routes. */
type MakeApp = (prepare: (recording: FastifyInstance) => Promise<void>) => Promise<FastifyInstance>;

/** OpenAPI of every route of the app: they are registered once more, on one that only records them. */
export async function recordRoutes(makeApp: MakeApp, info: ApiInfo): Promise<object> {
  const [{ fastifySwagger }, { jsonSchemaTransform }] = await Promise.all([
    import('@fastify/swagger'),
    import('fastify-type-provider-zod'),
  ]);
  const app = await makeApp(async (recording) => {
    await recording.register(fastifySwagger, {
      openapi: {
        openapi: '3.1.0',
        info,
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
