/** A request that the server refused, or that never reached it (`status` 0). `message` is the server's own words where it gave some. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Id for clients that translate, e.g. `CONFIGURATION$SETTINGS_NOT_FOUND`; empty when the server gave none. */
  readonly messageId: string;

  constructor(status: number, message: string, messageId = '') {
    super(message);
    this.status = status;
    this.messageId = messageId;
  }
}

/** The words of an error body in any of the shapes that servers of these generations use. */
export function apiErrorFrom(status: number, body: unknown): ApiError {
  if (typeof body === 'string' && body) return new ApiError(status, body);
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const words = [fields.detail, fields.error, fields.message].find((value) => typeof value === 'string' && value !== '');
  return new ApiError(
    status,
    (words as string | undefined) ?? `The server answered ${status}`,
    typeof fields.msg_id === 'string' ? fields.msg_id : '',
  );
}
