import { z } from 'zod';

/** What a key lets its holder do, each with what stands before it. */
export const Scope = z.enum(['read', 'drive', 'admin']);
export type Scope = z.output<typeof Scope>;

const MAX_SECONDS = 366 * 86_400;
const seconds = z.number().int().min(60, 'at least a minute is expected').max(MAX_SECONDS, 'at most a year is expected');

export const CreateKey = z.object({
  name: z.string().trim().min(1).max(100),
  scope: Scope,
  /** Unset: until it is revoked. */
  expires_in: seconds.nullish(),
});
export type CreateKey = z.output<typeof CreateKey>;

export const KeyInfo = z.object({
  id: z.string(),
  name: z.string(),
  scope: Scope,
  created_at: z.string(),
  expires_at: z.string().nullable(),
  /** To the minute. */
  last_used_at: z.string().nullable(),
  /** Whose it is; it ends with them. Missing: nobody's. */
  user: z.object({ id: z.string(), name: z.string() }).optional(),
});
export type KeyInfo = z.output<typeof KeyInfo>;
export const KeyList = z.object({ keys: z.array(KeyInfo) });
/** The only time that the key itself is shown. */
export const CreatedKey = KeyInfo.extend({ key: z.string() });
export type CreatedKey = z.output<typeof CreatedKey>;

export const CreateShare = z.object({ expires_in: seconds.default(7 * 86_400) });

export const ShareInfo = z.object({ id: z.string(), created_at: z.string(), expires_at: z.string(), last_used_at: z.string().nullable() });
export type ShareInfo = z.output<typeof ShareInfo>;
export const ShareList = z.object({ shares: z.array(ShareInfo) });
/** The only time that the link itself is shown. `token` is what it has behind `#`. */
export const CreatedShare = ShareInfo.extend({ url: z.string(), token: z.string() });

export type CreatedShare = z.output<typeof CreatedShare>;

export const Revoked = z.object({ revoked: z.literal(true) });
