import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';

/** Answers the parsed value: defaults are in, unknown keys are out. */
export const zodValidator: FastifySchemaCompiler<z.ZodType> = ({ schema }) => {
  return (data) => {
    const parsed = schema.safeParse(data);
    return parsed.success ? { value: parsed.data } : { error: parsed.error };
  };
};
