/** What a failure says, in any of the shapes that servers of these generations use; undefined where it says nothing. Free of zod. */
export function failureText(body: unknown): string | undefined {
  if (typeof body === 'string' && body !== '') return body;
  const { detail, error, message } = Object(body) as Readonly<Record<string, unknown>>;
  const words = [detail, error, message].find((value) => typeof value === 'string' && value !== '');
  return words === undefined ? misfitText(detail) : String(words);
}

/** Of a body that does not fit: which field, and why. */
function misfitText(detail: unknown): string | undefined {
  const { loc, msg } = Object(Array.isArray(detail) ? detail[0] : undefined) as { readonly loc?: unknown; readonly msg?: unknown };
  if (typeof msg !== 'string') return undefined;
  const field = Array.isArray(loc) ? loc.slice(1).join('.') : '';
  return field ? `${field}: ${msg}` : msg;
}
