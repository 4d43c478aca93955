/**
 * Assigns conversations to the servers that share a database, and owns those of this server. Does not own what happens in a conversation.
 *
 * Invariants
 * LS1  A group (a conversation and all that were delegated in it) has one owner at a time. One statement changes the owner and raises the
 *      epoch of each log in the group; the log refuses an append under an earlier epoch.
 * LS2  A server loses a group only when its lease has ended, or when it gives the group up.
 * LS3  When a server ends, the others take over the groups that were at work: `TAKEN_TOGETHER` at a time each, and no group twice.
 */
import type { ConversationRef, Place, Scheduler, SchedulerHandlers, ServerNode } from '../../scheduling/scheduler.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { Database } from './database.ts';
import { fencedMessage, nodeOf, serversOf, type ServerLease, type ServerRow } from './server-lease.ts';

/** How many groups one server takes over before the others get a turn. */
const TAKEN_TOGETHER = 16;
/** How long the owner of another server's conversation is cached. */
const REMEMBERED_MS = 300;
const MOST_REMEMBERED = 10_000;

interface LogRow {
  readonly conversation_id: string;
  readonly root_id: string;
  readonly owner_epoch: number;
}

interface Owned {
  readonly rootId: string;
  readonly epoch: number;
}

export interface LeasedSchedulerOptions {
  readonly database: Database;
  readonly lease: ServerLease;
  /** Called for each log that this server may append to from now on. */
  readonly onClaimed: (conversationId: string, epoch: number) => void;
  /** Called when another server has ended the lease: no open log may be used any more. */
  readonly onLost: () => void;
}

export class LeasedScheduler implements Scheduler {
  readonly #options: LeasedSchedulerOptions;
  readonly #owned = new Map<string, Owned>();
  /** Recently looked up owners of other servers' conversations. */
  readonly #remembered = new Map<string, { readonly place: Place; readonly at: number }>();
  /** For each server, how often it had given up conversations at the last beat. */
  readonly #released = new Map<string, number>();
  #handlers: SchedulerHandlers | undefined;
  #servers: readonly ServerRow[] | undefined;
  #takingOver: Promise<void> | undefined;
  /** Set at the start and whenever a server has left: look for conversations without an owner. */
  #looksForOrphans = true;

  constructor(options: LeasedSchedulerOptions) {
    this.#options = options;
    options.lease.listen({ onBeat: (servers) => this.#seen(servers), onLost: () => void this.#standDown() });
  }

  get self(): ServerNode | undefined {
    return this.#options.lease.self;
  }

  async servers(): Promise<readonly ServerNode[]> {
    const rows = this.#servers ?? (await serversOf(this.#options.database));
    return rows.filter((row) => !row.is_ended && !row.is_over && row.url !== null).map(nodeOf);
  }

  async find(id: string): Promise<Place> {
    const { lease } = this.#options;
    if (this.#owned.has(id) && lease.isCurrent) return { at: 'here' };
    const known = this.#remembered.get(id);
    if (known && performance.now() - known.at < REMEMBERED_MS) return known.place;
    const place = (await this.findAll([id])).get(id) ?? { at: 'nowhere' };
    if (place.at === 'peer') {
      if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear();
      this.#remembered.set(id, { place, at: performance.now() });
    }
    return place;
  }

  async findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Place>> {
    const { database, lease } = this.#options;
    const rows = await database.read<ServerRow & { conversation_id: string }>(FIND, [ids]);
    return new Map(
      rows.map((row) => [row.conversation_id, row.id === lease.id ? { at: 'here' } : { at: 'peer', server: nodeOf(row) }] as const),
    );
  }

  async claim({ id, rootId }: ConversationRef): Promise<Place> {
    const { database, lease } = this.#options;
    if (this.#owned.has(id) && lease.isCurrent) return { at: 'here' };
    this.#remembered.delete(id);
    for (;;) {
      const own = lease.id;
      if (await this.#claimGroup(id, rootId)) return { at: 'here' };
      const place = (await this.findAll([rootId])).get(rootId);
      if (place) return place;
      // The lease of its server has expired, or this server's own.
      const servers = await serversOf(database);
      await lease.endOver(servers);
      const isOver = !servers.some((row) => row.id === own && !row.is_ended);
      if (isOver && !(await lease.after(own))) throw new StorageError('fenced', fencedMessage(database));
    }
  }

  async release(rootIds?: readonly string[]): Promise<void> {
    const { database, lease } = this.#options;
    for (const [id, { rootId }] of this.#owned) if (rootIds?.includes(rootId) ?? true) this.#owned.delete(id);
    await database.write(RELEASE, [lease.id, rootIds ?? null]);
  }

  epochOf(id: string): number {
    return this.#owned.get(id)?.epoch ?? 0;
  }

  start(handlers: SchedulerHandlers): void {
    this.#handlers = handlers;
    void this.#options.lease.activate();
  }

  async retire(): Promise<void> {
    await this.#options.lease.retire();
    await this.#takingOver;
  }

  /** Called when the log was deleted. */
  forget(id: string): void {
    this.#owned.delete(id);
    this.#remembered.delete(id);
  }

  async #claimGroup(id: string, rootId: string): Promise<boolean> {
    const { database, lease } = this.#options;
    const rows = await database.write<LogRow>(CLAIM, [lease.id, rootId, id]);
    if (!rows.some((row) => row.conversation_id === rootId)) return false;
    this.#addOwned(rows);
    return true;
  }

  #addOwned(rows: readonly LogRow[]): void {
    for (const { conversation_id: id, root_id: rootId, owner_epoch: epoch } of rows) {
      this.#owned.set(id, { rootId, epoch });
      this.#options.onClaimed(id, epoch);
    }
  }

  #seen(servers: readonly ServerRow[]): void {
    const { lease } = this.#options;
    this.#servers = servers;
    if (this.#handlers) lease.load = this.#handlers.load();
    for (const id of this.#released.keys()) if (!servers.some((row) => row.id === id)) this.#released.delete(id);
    const others = servers.filter(({ id }) => id !== lease.id);
    if (others.some((row) => lease.isOver(row) || this.#hasReleased(row))) this.#looksForOrphans = true;
    this.#takeOver();
  }

  /** Whether the server has given up conversations since the last beat. */
  #hasReleased({ id, released }: ServerRow): boolean {
    const before = this.#released.get(id) ?? 0;
    this.#released.set(id, released);
    return released > before;
  }

  #takeOver(): void {
    if (!this.#handlers || this.#takingOver || !this.#looksForOrphans || !this.self?.takesConversations) return;
    const handlers = this.#handlers;
    this.#takingOver = this.#takeOrphans(handlers)
      .catch(() => void (this.#looksForOrphans = true)) // with the next beat
      .finally(() => (this.#takingOver = undefined));
  }

  async #takeOrphans(handlers: SchedulerHandlers): Promise<void> {
    const { database, lease } = this.#options;
    this.#looksForOrphans = false;
    await lease.endOver(this.#servers ?? []);
    const ended = (this.#servers ?? []).filter((row) => row.id !== lease.id && lease.isOver(row)).map((row) => row.id);
    while (this.self?.takesConversations && lease.isCurrent) {
      const rows = await database.write<LogRow>(TAKE, [lease.id, TAKEN_TOGETHER]);
      if (rows.length === 0) break;
      this.#addOwned(rows);
      await handlers.wake(rows.map((row) => row.conversation_id));
    }
    const lost = await database.read<{ id: string }>(MARKED_ALONE);
    for (const { id } of lost) if ((await this.claim({ id, rootId: id })).at === 'here') await handlers.wake([id]);
    // Nothing that they left is at work any more: release the rest of their groups.
    await database.write('DELETE FROM tendon.servers WHERE ended AND id = ANY($1::text[])', [ended]);
  }

  async #standDown(): Promise<void> {
    this.#owned.clear();
    this.#remembered.clear();
    this.#servers = undefined;
    // A server that had the database to itself does not come back.
    if (this.self !== undefined) await this.#handlers?.standDown();
    this.#options.onLost();
    if (this.self === undefined) return;
    this.#looksForOrphans = true;
    await this.#options.lease.renew();
  }
}

const IS_ALIVE = 'NOT s.ended AND s.until > clock_timestamp()';

/** The living servers that own these conversations. */
const FIND = `
  SELECT c.conversation_id, s.id, s.url, s.holder, s.takes, s.load, s.released, s.ended AS is_ended, false AS is_over
  FROM tendon.logs AS c JOIN tendon.logs AS r ON r.conversation_id = c.root_id JOIN tendon.servers AS s ON s.id = r.owner AND ${IS_ALIVE}
  WHERE c.conversation_id = ANY($1::text[])`;

/** Claims a group ($2) for this server ($1) unless its owner is alive; $3 is a member that may be new. Returns no row when refused. */
const CLAIM = `
  WITH me AS (
    SELECT id FROM tendon.servers WHERE id = $1 AND NOT ended
  ), root AS (
    INSERT INTO tendon.logs AS l (conversation_id, root_id, next_id, last_timestamp, owner, owner_epoch)
    SELECT $2, $2, 0, '', id, 1 FROM me
    ON CONFLICT (conversation_id) DO UPDATE
    SET owner = excluded.owner, owner_epoch = l.owner_epoch + (l.owner IS DISTINCT FROM excluded.owner)::int
    WHERE l.owner IS NULL OR l.owner = excluded.owner
      OR NOT EXISTS (SELECT 1 FROM tendon.servers AS s WHERE s.id = l.owner AND NOT s.ended)
    RETURNING conversation_id, root_id, owner_epoch
  ), member AS (
    INSERT INTO tendon.logs AS l (conversation_id, root_id, next_id, last_timestamp, owner, owner_epoch)
    SELECT $3, $2, 0, '', $1, 1 FROM root WHERE $3::text <> $2
    ON CONFLICT (conversation_id) DO UPDATE
    SET owner = excluded.owner, root_id = excluded.root_id, owner_epoch = l.owner_epoch + (l.owner IS DISTINCT FROM excluded.owner)::int
    RETURNING conversation_id, root_id, owner_epoch
  ), others AS (
    UPDATE tendon.logs AS l SET owner = $1, owner_epoch = l.owner_epoch + 1 FROM root
    WHERE l.root_id = $2 AND l.conversation_id NOT IN ($2, $3) AND l.owner IS DISTINCT FROM $1
    RETURNING l.conversation_id, l.root_id, l.owner_epoch
  )
  SELECT * FROM root UNION ALL SELECT * FROM member UNION ALL SELECT * FROM others`;

/**
 * Takes groups that are at work and have no living owner, for this server ($1); skips those that another server is taking. The living
 * servers are an array and not a join, because Postgres re-evaluates the condition on a concurrently changed row only without a join.
 */
const TAKE = `
  WITH orphans AS (
    SELECT r.conversation_id
    FROM tendon.records AS a
      JOIN tendon.logs AS c ON c.conversation_id = a.id
      JOIN tendon.logs AS r ON r.conversation_id = c.root_id
    WHERE a.collection = 'active' AND EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)
      AND (r.owner IS NULL OR r.owner <> ALL (ARRAY(SELECT id FROM tendon.servers WHERE NOT ended)))
    LIMIT $2 FOR UPDATE OF r SKIP LOCKED
  )
  UPDATE tendon.logs AS l SET owner = $1, owner_epoch = l.owner_epoch + 1
  WHERE l.root_id IN (SELECT conversation_id FROM orphans)
  RETURNING l.conversation_id, l.root_id, l.owner_epoch`;

/** Gives up the groups of these roots ($2), or all, and counts that, so that the other servers notice. */
const RELEASE = `
  WITH released AS (
    UPDATE tendon.logs SET owner = NULL WHERE owner = $1 AND ($2::text[] IS NULL OR root_id = ANY($2::text[])) RETURNING conversation_id
  )
  UPDATE tendon.servers SET released = released + 1 WHERE id = $1 AND EXISTS (SELECT 1 FROM released)`;

/** Marks without a log, which interrupted deletions leave. */
const MARKED_ALONE = `
  SELECT id FROM tendon.records AS a WHERE collection = 'active'
    AND NOT EXISTS (SELECT 1 FROM tendon.logs AS l WHERE l.conversation_id = a.id) LIMIT 1000`;
