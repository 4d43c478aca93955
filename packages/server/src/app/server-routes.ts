import { eventsJsonSchema } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../platform/http/app.ts';
import type { ServerContext } from './context.ts';

/** What who runs several servers asks one of them. */
export const clusterRoutes: Routes<ServerContext> = (app, context) => {
  app.post('/cluster/drain', { schema: { response: { 200: z.object({ status: z.literal('drained') }) } } }, async () => {
    await context.drain();
    return { status: 'drained' as const };
  });
};

/** Descriptions for programs, made from the schemas that check the requests; built on first use. */
export const schemaRoutes: Routes<ServerContext> = (app, context) => {
  const hidden = { schema: { hide: true } };
  let document: Promise<object> | undefined;
  // The second is where FastAPI has it, and so OpenHands.
  for (const path of ['/api/openapi.json', '/openapi.json']) app.get(path, hidden, () => (document ??= context.openApi()));
  let events: object | undefined;
  app.get('/api/schema/events.json', hidden, async () => (events ??= eventsJsonSchema()));
};

const EMPTY_LISTS = ['sandboxes', 'app-conversations', 'app-conversations/start-tasks', 'sandbox-specs', 'events'] as const;
const EMPTY_PAGES = [
  'app-conversations/search',
  'app-conversations/start-tasks/search',
  'sandboxes/search',
  'sandbox-specs/search',
  'events/search',
] as const;

/** 0.62 asks the API that came after it about every conversation; there is nothing of that kind here, which is an answer. */
export const v1Routes: Routes = (app) => {
  const list = { schema: { response: { 200: z.array(z.unknown()) } } };
  for (const path of EMPTY_LISTS) app.get(`/api/v1/${path}`, list, async () => []);
  const page = { schema: { response: { 200: z.object({ items: z.array(z.unknown()), next_page_id: z.null() }) } } };
  for (const path of EMPTY_PAGES) app.get(`/api/v1/${path}`, page, async () => ({ items: [], next_page_id: null }));
  for (const path of ['app-conversations/count', 'app-conversations/start-tasks/count', 'events/count'] as const) {
    app.get(`/api/v1/${path}`, { schema: { response: { 200: z.number().int() } } }, async () => 0);
  }
};
