import type { Caller } from '../platform/auth/caller.ts';

/** Who is charged for work: a user, a key that belongs to no user, or the owner of the server. */
export interface Party {
  /** `user:ID`, `key:ID` or `owner`. */
  readonly name: string;
  readonly organisation?: string | undefined;
}

/** The fields of a conversation's record that name its owner. */
export interface OwnerFields {
  readonly created_by?: { readonly id: string } | undefined;
  readonly created_with?: string | undefined;
  readonly organisation_id?: string | undefined;
}

export function partyOf({ created_by: user, created_with: key, organisation_id: organisation }: OwnerFields): Party {
  return { name: user ? `user:${user.id}` : key ? `key:${key}` : 'owner', organisation };
}

export function partyOfCaller(by: Caller | undefined): Party {
  const { userId, key, organisationId: organisation } = by ?? {};
  return { name: userId !== undefined ? `user:${userId}` : key !== undefined ? `key:${key}` : 'owner', organisation };
}

/** The scopes whose limits apply to a party. Each limit applies on its own. */
export function scopesOf({ name, organisation }: Party): readonly string[] {
  return ['server', ...(organisation === undefined ? [] : [`organisation:${organisation}`]), name];
}
