import { z } from 'zod';

/** Who did it, as far as the server knows. Ids and names of keys, never a key. */
const AuditActor = z.object({
  /** The person's id; `null`: a key or the server itself. */
  user: z.string().nullable(),
  /** What let the person or program in: `owner`, a key, a login, a link; `server` for what it did by itself. */
  name: z.string(),
  /** What that key is called, where it is one. */
  key: z.string().nullable(),
  /** As the connection shows it. */
  address: z.string().nullable(),
});

/** What came of it: `refused` by a rule or a right, `failed` for another reason. */
export const AuditOutcome = z.enum(['done', 'refused', 'failed']);
export type AuditOutcome = z.output<typeof AuditOutcome>;

/** One security-relevant act. `hash` is SHA-256 over the canonical JSON of the rest but `seal`, which is an HMAC over `hash`. */
export const AuditEntry = z.object({
  /** From 1 on, without a gap, over all servers. */
  sequence: z.number().int().min(1),
  time: z.string(),
  actor: AuditActor,
  action: z.string(),
  /** What it was done to: an id or a name. */
  target: z.string().nullable(),
  outcome: AuditOutcome,
  /** More about it: names, never values. */
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
  /** The server that did it. */
  server: z.string(),
  /** The hash of the entry before; 64 zeros for the first. */
  previous: z.string(),
  hash: z.string(),
  seal: z.string(),
});
export type AuditEntry = z.output<typeof AuditEntry>;

/** Where the chain ended at a time: stored in another place, it shows that nothing before it was changed or removed since. */
export const AuditHead = z.object({ sequence: z.number().int().min(1), hash: z.string(), seal: z.string() });
export type AuditHead = z.output<typeof AuditHead>;

export const AuditQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  /** Older ones than this. */
  before: z.coerce.number().int().min(1).optional(),
  /** An action, or the part before its point. */
  action: z.string().max(100).optional(),
  /** A person's id, or the name of what let it in. */
  actor: z.string().max(200).optional(),
  target: z.string().max(200).optional(),
  outcome: AuditOutcome.optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
export type AuditQuery = z.output<typeof AuditQuery>;

/** Newest first. */
export const AuditPage = z.object({
  entries: z.array(AuditEntry),
  /** `before` of the next page; `null`: there is none. */
  next: z.number().int().nullable(),
  /** Of the whole chain; `null` where nothing is written yet. */
  head: AuditHead.nullable(),
});
export type AuditPage = z.output<typeof AuditPage>;
