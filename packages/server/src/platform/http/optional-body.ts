import type { z } from 'zod';

/** The schema of a body that may be left out (`curl -X POST` sends none): nothing counts as `{}`. */
export function optionalBody<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((body) => (body ?? schema.parse({})) as z.output<Schema>);
}
