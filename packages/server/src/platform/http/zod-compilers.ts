import type { FastifyServerOptions } from 'fastify';
import type { z } from 'zod';

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
