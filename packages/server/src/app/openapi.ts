import { createApp } from './http-app.ts';
import { RESOURCES } from './resources.ts';
import type { ServerContext } from './context.ts';
import { recordRoutes } from '../platform/http/record-routes.ts';

/** OpenAPI of every REST route. */
export function openApiDocument(context: ServerContext): Promise<object> {
  const info = { title: 'Tendon', version: context.version, description: 'Agent server for software development.' };
  return recordRoutes((prepare) => createApp(context, RESOURCES, prepare), info);
}
