/** Whose something is beside the server's: an organisation's, or a user's in one. */
export interface OwnedBy {
  readonly organisation_id?: string | undefined;
  readonly created_by?: { readonly id: string } | undefined;
}

/** What a user has in one organisation, nobody of another one meets. */
export type OwnScope = `organisation:${string}` | `user:${string}@${string}`;

export function organisationScope(organisation: string): OwnScope {
  return `organisation:${organisation}`;
}

export function userScope(organisation: string, user: string): OwnScope {
  return `user:${user}@${organisation}`;
}

/** From the more general to the nearer; none where nobody but the server has it. */
export function ownScopesOf({ organisation_id: organisation, created_by: user }: OwnedBy): readonly OwnScope[] {
  if (organisation === undefined) return [];
  return [organisationScope(organisation), ...(user ? [userScope(organisation, user.id)] : [])];
}

/** Of this user, in whatever organisation. */
export function isOfUser(scope: string, user: string): boolean {
  return scope.startsWith(`user:${user}@`);
}

/** What a caller's own work would have. */
export function ownedByCaller({ userId, organisationId }: { readonly userId?: string; readonly organisationId?: string }): OwnedBy {
  return { organisation_id: organisationId, ...(userId !== undefined && { created_by: { id: userId } }) };
}
