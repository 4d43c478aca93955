import { eventsJsonSchema } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';
import type { ServerContext } from './context.ts';

/** Descriptions for programs, made from the schemas that check the requests; built on first use. */
export const schemaRoutes: Routes<ServerContext> = (app, context) => {
  const hidden = { schema: { hide: true } };
  let document: Promise<object> | undefined;
  // The second is where FastAPI has it, and so OpenHands.
  for (const path of ['/api/openapi.json', '/openapi.json']) app.get(path, hidden, () => (document ??= context.openApi()));
  let events: object | undefined;
  app.get('/api/schema/events.json', hidden, async () => (events ??= eventsJsonSchema()));
};
