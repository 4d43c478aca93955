import { z } from 'zod';

/**
 * How a REST failure looks. Old routes differ in the key that holds the text, and clients read the one they know,
 * so an answer carries all three: `detail` (framework's own), `error` and `message` (hand-made), with `msg_id` for translation.
 */
export const Failure = z.object({
  detail: z.union([z.string(), z.array(z.object({ type: z.string(), loc: z.array(z.union([z.string(), z.number()])), msg: z.string() }))]),
  error: z.string().optional(),
  message: z.string().optional(),
  msg_id: z.string().optional(),
});
export type Failure = z.output<typeof Failure>;

/** The 422 of a body that does not fit, in the shape old clients know. */
export function validationFailure(error: z.ZodError, where: 'body' | 'query' | 'path'): Failure {
  return {
    detail: error.issues.map((issue) => ({
      type: issue.code ?? 'value_error',
      loc: [where, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))],
      msg: issue.message,
    })),
  };
}
