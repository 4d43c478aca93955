/**
 * Owns who may sign in: users, organisations, and who is what in which. It does not own how a person shows who they are, nor what lets
 * them in afterwards (`TokenStores`).
 *
 * UD1  What is held is what the store had at the last reading. A change of this server's is read back before it is answered, one of
 *      another server's within a second.
 * UD2  From the tick on in which somebody is read as disabled, as no member or as one of another role, what they came in by opens nothing,
 *      or less, and the holders of connections by it are notified.
 * UD3  A person is the pair of issuer and subject: neither a name nor an address that is given to somebody else leads to their account.
 */
import { createHash } from 'node:crypto';
import type { Clock, RecordStore } from '@tendon/core';
import type { OrganisationInfo, OrganisationRole as Role, Scope, UserInfo } from '@tendon/protocol';
import { Mutex } from '@tendon/protocol/async';
import type { UserRules } from '../config/users-config.ts';

interface StoredUser {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly issuer: string;
  readonly subject: string;
  /** By the configuration, at the last login. */
  readonly administers_server: boolean;
  readonly disabled: boolean;
  /** Nothing but the id is left. */
  readonly erased?: true;
  readonly created_at: string;
  readonly last_login_at: string;
}

interface StoredOrganisation {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}

interface StoredMembership {
  readonly organisation_id: string;
  readonly user_id: string;
  readonly role: Role;
  readonly created_at: string;
}

/** What the identity provider says of a person, checked. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly groups: readonly string[];
}

/** A user in one organisation, as of now. */
export interface Member {
  readonly userId: string;
  readonly userName: string;
  readonly organisationId: string;
  readonly role: Role;
  readonly scope: Scope;
  readonly administersServer: boolean;
}

export type SignInResult =
  | { readonly ok: true; readonly userId: string; readonly organisationId: string }
  | { readonly ok: false; readonly why: 'disabled' | 'domain' | 'no organisation' };

export interface UserDirectoryOptions {
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly rules: UserRules;
}

/** The only one, where groups lead to no others. */
const DEFAULT_ORGANISATION = 'default';
const SCOPES = { viewer: 'read', member: 'drive', admin: 'admin', owner: 'admin' } as const satisfies Record<Role, Scope>;
const RANK = { viewer: 0, member: 1, admin: 2, owner: 3 } as const satisfies Record<Role, number>;
const COLLECTIONS = ['users', 'organisations', 'memberships'] as const;

export class UserDirectory {
  readonly #options: UserDirectoryOptions;
  readonly #reading = new Mutex();
  #users: ReadonlyMap<string, StoredUser> = new Map();
  #organisations: ReadonlyMap<string, StoredOrganisation> = new Map();
  /** By `membershipId`. */
  #memberships: ReadonlyMap<string, StoredMembership> = new Map();
  readonly #watching = new Set<() => void>();

  private constructor(options: UserDirectoryOptions) {
    this.#options = options;
  }

  static async open(options: UserDirectoryOptions): Promise<UserDirectory> {
    const directory = new UserDirectory(options);
    // What cannot be read stays as it was until it can.
    for (const each of COLLECTIONS) options.records.watch(each, () => directory.#read());
    await directory.#read();
    return directory;
  }

  /** Whether groups of the identity provider give the roles, so that nobody else does. */
  get givesRolesByGroup(): boolean {
    return this.#options.rules.roles !== undefined;
  }

  /** `undefined`: there is no such user, they are disabled, or they are no member. */
  member(userId: string, organisationId: string): Member | undefined {
    const user = this.#users.get(userId);
    const membership = this.#memberships.get(membershipId(organisationId, userId));
    if (!user || user.disabled || !membership) return undefined;
    const { name: userName, administers_server: administersServer } = user;
    return { userId, userName, organisationId, role: membership.role, scope: SCOPES[membership.role], administersServer };
  }

  organisationsOf(userId: string): readonly OrganisationInfo[] {
    const own = [...this.#memberships.values()].filter(({ user_id }) => user_id === userId);
    return own
      .map(({ organisation_id: id, role }) => ({ id, name: this.#organisations.get(id)?.name ?? id, role }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Of one organisation, or all; by name. */
  users(organisationId?: string): readonly UserInfo[] {
    return [...this.#users.values()]
      .map((user) => this.#info(user))
      .filter(({ organisations }) => organisationId === undefined || organisations.some(({ id }) => id === organisationId))
      .toSorted((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));
  }

  /** As of this login: who they are, and, where groups say so, what they are in which organisation. */
  async signIn(identity: Identity): Promise<SignInResult> {
    const { rules } = this.#options;
    const email = identity.email?.toLowerCase();
    const trusted = identity.isEmailVerified || rules.trustsEmail ? email : undefined;
    if (rules.domains.length > 0 && !rules.domains.includes(trusted?.split('@').at(-1) ?? '')) return { ok: false, why: 'domain' };
    const administers = trusted !== undefined && rules.admins.includes(trusted);
    const userId = userIdOf(identity);
    const known = this.#users.get(userId);
    if (known?.disabled) return { ok: false, why: 'disabled' };
    const roles = this.#rolesOf(userId, identity.groups, administers);
    if (roles.size === 0) return { ok: false, why: 'no organisation' };
    const user = await this.#putUser(userId, identity, administers);
    if (!user.disabled) await this.#putMemberships(userId, roles);
    await this.#read();
    // Disabled meanwhile, by another server perhaps.
    if (this.#users.get(userId)?.disabled !== false) return { ok: false, why: 'disabled' };
    return { ok: true, userId, organisationId: best(roles) };
  }

  /** False: there is no such member. */
  async setRole(organisationId: string, userId: string, role: Role): Promise<boolean> {
    const id = membershipId(organisationId, userId);
    const changed = await this.#options.records.update<StoredMembership>('memberships', id, (one) =>
      one && one.role !== role ? { sort: one.created_at, value: { ...one, role } } : undefined,
    );
    await this.#read();
    return changed !== undefined;
  }

  /** False: there is no such user. */
  async setDisabled(userId: string, disabled: boolean): Promise<boolean> {
    const changed = await this.#options.records.update<StoredUser>('users', userId, (one) =>
      one && one.disabled !== disabled ? { sort: one.created_at, value: { ...one, disabled } } : undefined,
    );
    await this.#read();
    return changed !== undefined;
  }

  /** Of somebody who was erased, what stands in the place of their name. */
  erasedName(userId: string): string | undefined {
    return this.#users.get(userId)?.erased ? erasedNameOf(userId) : undefined;
  }

  /** Nothing but the id is left of them; they are disabled for good. */
  async erase(userId: string): Promise<void> {
    const { records, clock } = this.#options;
    const now = clock.now().toISOString();
    const nobody = { name: erasedNameOf(userId), email: null, issuer: '', subject: '', administers_server: false };
    await records.update<StoredUser>('users', userId, (one) => {
      const times = { created_at: one?.created_at ?? now, last_login_at: one?.created_at ?? now };
      return { sort: times.created_at, value: { id: userId, ...nobody, ...times, disabled: true, erased: true as const } };
    });
    await this.#read();
    for (const { id } of this.organisationsOf(userId)) await records.delete('memberships', membershipId(id, userId));
    await this.#read();
  }

  /** Resolves when the member is no longer what they were, or `signal` aborts. */
  ended({ userId, organisationId, role }: Member, signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal.aborted || this.member(userId, organisationId)?.role !== role;
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isOver()) return;
        this.#watching.delete(look);
        signal.removeEventListener('abort', look);
        resolve();
      };
      this.#watching.add(look);
      signal.addEventListener('abort', look);
      look();
    });
  }

  #info(user: StoredUser): UserInfo {
    const { id, name, email, disabled, administers_server, created_at, last_login_at } = user;
    return { id, name, email, disabled, administers_server, created_at, last_login_at, organisations: [...this.organisationsOf(id)] };
  }

  #rolesOf(userId: string, groups: readonly string[], administers: boolean): ReadonlyMap<string, Role> {
    const { roles: rules } = this.#options.rules;
    const found = new Map<string, Role>();
    const give = (organisation: string, role: Role): void => {
      const before = found.get(organisation);
      if (before === undefined || RANK[role] > RANK[before]) found.set(organisation, role);
    };
    if (rules) {
      for (const { group, organisation, role } of rules) if (group === '*' || groups.includes(group)) give(organisation, role);
      return found;
    }
    give(DEFAULT_ORGANISATION, this.#memberships.get(membershipId(DEFAULT_ORGANISATION, userId))?.role ?? 'member');
    if (administers) give(DEFAULT_ORGANISATION, 'owner');
    return found;
  }

  async #putUser(id: string, { issuer, subject, name, email }: Identity, administers: boolean): Promise<StoredUser> {
    const now = this.#options.clock.now().toISOString();
    const seen = { id, name, email: email ?? null, issuer, subject, administers_server: administers, last_login_at: now };
    const put = await this.#options.records.update<StoredUser>('users', id, (one) => {
      if (one?.erased) return undefined;
      const value = { created_at: now, disabled: false, ...one, ...seen };
      return { sort: value.created_at, value };
    });
    return put!;
  }

  /** Where groups give the roles, what they no longer give is over. */
  async #putMemberships(userId: string, roles: ReadonlyMap<string, Role>): Promise<void> {
    const { records, clock } = this.#options;
    const now = clock.now().toISOString();
    for (const { id } of this.givesRolesByGroup ? this.organisationsOf(userId) : [])
      if (!roles.has(id)) await records.delete('memberships', membershipId(id, userId));
    for (const [organisation, role] of roles) {
      await records.update<StoredOrganisation>('organisations', organisation, (one) =>
        one ? undefined : { sort: now, value: { id: organisation, name: organisation, created_at: now } },
      );
      await records.update<StoredMembership>('memberships', membershipId(organisation, userId), (one) =>
        one?.role === role
          ? undefined
          : { sort: now, value: { created_at: now, organisation_id: organisation, user_id: userId, ...one, role } },
      );
    }
  }

  async #read(): Promise<void> {
    await this.#reading.run(async () => {
      const { records } = this.#options;
      const [users, organisations, memberships] = await Promise.all([
        records.list<StoredUser>('users'),
        records.list<StoredOrganisation>('organisations'),
        records.list<StoredMembership>('memberships'),
      ]);
      this.#users = byId(users);
      this.#organisations = byId(organisations);
      this.#memberships = byId(memberships);
    });
    for (const look of this.#watching) look();
  }
}

/** What others see of somebody who was erased. */
export function erasedNameOf(userId: string): string {
  return `erased user ${userId.slice(0, 8)}`;
}

/** The same on every server, so that two logins at once make one user. */
function userIdOf({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): string {
  return createHash('sha256').update(`${issuer}\0${subject}`).digest('hex').slice(0, 32);
}

function membershipId(organisationId: string, userId: string): string {
  return `${organisationId}.${userId}`;
}

function byId<T>(records: readonly { readonly id: string; readonly value: T }[]): ReadonlyMap<string, T> {
  return new Map(records.map(({ id, value }) => [id, value]));
}

/** In which a person begins: where they may do most, the first of these by name. */
function best(roles: ReadonlyMap<string, Role>): string {
  return [...roles].toSorted(([a, one], [b, other]) => RANK[other] - RANK[one] || (a < b ? -1 : 1))[0]![0];
}
