import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  FastifyServerOptions,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Principal } from '../auth/identify.ts';
import type { z } from 'zod';
import { catalogError } from '@tendon/protocol';
import { sendFailure } from './failure.ts';

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
    /** The caller, by the guard. */
    principal: Principal;
  }
}

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>;
type Compilers = NonNullable<SchemaController['compilersFactory']>;

/**
 * Routes are checked by their zod schemas and answered as JSON. Given to Fastify when it is made: only then does it not load its own
 * compilers (ajv, fast-json-stringify), which would cost every start their evaluation.
 */
export const zodCompilers: SchemaController = {
  compilersFactory: {
    // Its types know its own compilers alone.
    buildValidator: (() => validatorOf) as unknown as Compilers['buildValidator'],
    buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
  },
};

/** Answers the parsed value: defaults are in, unknown keys are out. */
function validatorOf({ schema }: { readonly schema: z.ZodType }) {
  return (data: unknown) => {
    const parsed = schema.safeParse(data);
    return parsed.success ? { value: parsed.data } : { error: parsed.error };
  };
}

/** Bodies are never unpacked, so that none can swell; the answer to one says what to do instead. */
export function refuseEncodedBodies(app: App): void {
  app.addHook('onRequest', async ({ headers }, reply) => {
    const coding = headers['content-encoding'];
    if (coding === undefined || coding === 'identity') return;
    const error = catalogError('INVALID_ARGUMENTS', 'a body is taken as it is, without Content-Encoding');
    return sendFailure(reply, { ...error, status: 415 });
  });
}

/** More of a body that nobody reads ends the connection: a little more than is read of any. */
const MAX_UNUSED_BODY_BYTES = MAX_BODY_BYTES + 4 * 1024 ** 2;

/**
 * What a GET sends along and no route reads, and a body that is too long, is dropped first: a connection that closes with unread bytes is
 * reset, and the answer is lost.
 */
export function dropUnusedBodies(app: App): void {
  app.addHook('onSend', async ({ raw, headers }, reply, payload) => {
    const length = Number(headers['content-length'] ?? 0);
    const isUnused = raw.method === 'GET' || raw.method === 'HEAD' || reply.statusCode === 413;
    if (isUnused && length > 0 && length <= MAX_UNUSED_BODY_BYTES && !raw.readableEnded && !raw.destroyed)
      await new Promise((resolve) => raw.once('end', resolve).once('close', resolve).resume());
    return payload;
  });
}
