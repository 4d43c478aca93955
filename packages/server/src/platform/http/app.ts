import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Principal } from '../auth/identify.ts';

export const MAX_BODY_BYTES = 20 * 1024 * 1024;

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** One REST resource, and what of the server it works with: a file in the folder of its feature and a line in `http-app.ts`. */
export type Routes<Context = unknown> = (app: App, context: Context) => void;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of an executor host: served without a key. */
    isPublic?: boolean;
  }
  interface FastifyRequest {
    /** Who asks, by the guard. */
    principal: Principal;
  }
}
