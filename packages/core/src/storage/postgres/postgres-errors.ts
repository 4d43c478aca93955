/** Classifies failures of statements by the code of Postgres or the network. */

/** Network errors, and sessions ended by an administrator, a crash or a restart. */
const OUTAGES = /^(?:08...|57P0[1235]|25006|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
/** Postgres ended the session: it is not known whether a commit got through. */
const ENDS_SESSION = /^(?:08|57P0)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

interface Failure {
  readonly code?: string;
  readonly message: string;
  readonly severity?: string;
  readonly errors?: readonly Error[];
}

/** Whether Postgres refused the statement, and so rolled it back. */
export function isRefusal(cause: unknown): boolean {
  const { code = '', severity } = cause as Failure;
  return severity !== undefined && SQLSTATE.test(code) && !ENDS_SESSION.test(code);
}

/** Whether the same statement may succeed in a moment, on another connection. */
export function isOutage(cause: unknown): boolean {
  const { code = '', message = '' } = (cause ?? {}) as Partial<Failure>;
  return OUTAGES.test(code) || /^(?:Connection terminated|timeout exceeded|Query read timeout|Client has encountered)/.test(message);
}

/** Whether the transaction was rolled back because of a deadlock or a serialization failure. */
export function isCollision(cause: unknown): boolean {
  return /^40(?:001|P01)$/.test((cause as Partial<Failure> | undefined)?.code ?? '');
}

/** Whether another row has the same key. */
export function isDuplicate(cause: unknown): boolean {
  return (cause as Partial<Failure> | undefined)?.code === '23505';
}

/** Whether a text contained a NUL, which Postgres cannot store. */
export function isUnstorableText(cause: unknown): boolean {
  return (cause as Partial<Failure> | undefined)?.code === '22021';
}

/** One or two sentences: what happened, and what to do where that is known. */
export function adviceFor(cause: unknown): string {
  const { code = '', errors } = cause as Failure;
  // A host name with several addresses fails with an AggregateError, which has no message of its own.
  const message = (cause as Failure).message || (errors?.[0]?.message ?? code);
  const advice = ADVICE.find(([codes]) => codes.test(code))?.[1];
  return advice ? `${message}. ${advice}` : message;
}

const ADVICE: readonly (readonly [codes: RegExp, advice: string])[] = [
  [/^(?:ECONNREFUSED|ENOENT)$/, 'Start it, or correct the host and port of TENDON_DATABASE_URL.'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'Correct the host of TENDON_DATABASE_URL.'],
  [/^28/, 'Correct the user and password of TENDON_DATABASE_URL, or pg_hba.conf.'],
  [/^3D000$/, 'Create it with createdb, or correct TENDON_DATABASE_URL.'],
  [/^42501$/, 'Give the user of TENDON_DATABASE_URL the right to create a schema in the database, or let its owner run the first start.'],
  [/^25006$/, 'It is a standby: TENDON_DATABASE_URL must lead to the primary.'],
  [/^53100$/, 'Its disk is full: make room there.'],
  [/^53300$/, 'Raise max_connections, or put a pooler before it.'],
];
