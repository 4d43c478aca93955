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

/** What a failure says, in any of the shapes that servers of these generations use; undefined where it says nothing. */
export function failureText(body: unknown): string | undefined {
  if (typeof body === 'string' && body !== '') return body;
  const { detail, error, message } = Object(body) as Readonly<Record<string, unknown>>;
  const words = [detail, error, message].find((value) => typeof value === 'string' && value !== '');
  return words === undefined ? misfitText(detail) : String(words);
}

/** Of a body that does not fit: which field, and why. */
function misfitText(detail: unknown): string | undefined {
  const issues = Failure.shape.detail.safeParse(detail);
  if (!issues.success || typeof issues.data === 'string') return undefined;
  const first = issues.data[0];
  const field = first?.loc.slice(1).join('.');
  return first && (field ? `${field}: ${first.msg}` : first.msg);
}

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
