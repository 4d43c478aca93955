import { eventsJsonSchema } from '@tendon/protocol';
import type { Routes } from '../context.ts';

/** Descriptions for programs, made from the schemas that check the requests; built on first use. */
export const schemaRoutes: Routes = (app, context) => {
  const hidden = { schema: { hide: true } };
  let openApi: Promise<unknown> | undefined;
  app.get('/api/openapi.json', hidden, async () => {
    openApi ??= import('../openapi.ts').then(({ openApiDocument }) => openApiDocument(context));
    return openApi;
  });
  let events: object | undefined;
  app.get('/api/schema/events.json', hidden, async () => (events ??= eventsJsonSchema()));
};
