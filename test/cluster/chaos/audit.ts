/**
 * Notes in the database itself who appended what, so that the fence is seen to hold: each statement that appends, with its server and the
 * epoch of the owner under which it was let through, and each that was refused whole.
 */
import type { PostgresCluster } from '@tendon/testing/postgres';

const DATABASE = 'tendon';

/** The connections of a server have its name as `application_name`. */
const NOTES = `
  CREATE SCHEMA chaos;
  CREATE TABLE chaos.writes (conversation_id text, from_id bigint, to_id bigint, writer text, owner_epoch bigint, at timestamptz);
  CREATE INDEX ON chaos.writes (conversation_id);
  CREATE TABLE chaos.refusals (writer text, at timestamptz);
  CREATE FUNCTION chaos.note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT 1 FROM appended) THEN
      INSERT INTO chaos.writes
      SELECT a.conversation_id, min(a.id), max(a.id), current_setting('application_name'), min(l.owner_epoch), clock_timestamp()
      FROM appended AS a JOIN tendon.logs AS l USING (conversation_id) GROUP BY a.conversation_id;
    ELSE
      INSERT INTO chaos.refusals VALUES (current_setting('application_name'), clock_timestamp());
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER note AFTER INSERT ON tendon.events REFERENCING NEW TABLE AS appended FOR EACH STATEMENT EXECUTE FUNCTION chaos.note()`;

/** Where a conversation stood when something happened to its server. */
export interface Standing {
  readonly id: string;
  readonly epoch: number;
  readonly nextId: number;
}

/** Events that one server appended under one epoch. */
export interface Written {
  readonly from: number;
  readonly to: number;
  readonly writer: string;
  readonly epoch: number;
}

export class Audit {
  readonly #postgres: PostgresCluster;

  constructor(postgres: PostgresCluster) {
    this.#postgres = postgres;
  }

  /** Once a server has made the tables. */
  async begin(): Promise<void> {
    await this.#postgres.sql(DATABASE, NOTES);
  }

  /** What the server at this address has. */
  async ownedBy(url: string): Promise<readonly Standing[]> {
    const rows = await this.#rows(
      `SELECT l.conversation_id, l.owner_epoch, l.next_id FROM tendon.logs AS l JOIN tendon.servers AS s ON s.id = l.owner
       WHERE s.url = '${url}' AND NOT s.ended`,
    );
    return rows.map(([id, epoch, nextId]) => ({ id: id!, epoch: Number(epoch), nextId: Number(nextId) }));
  }

  /** The first event that each of these got afterwards; from another owner, where that is `moved`. */
  async firstAfter(standings: readonly Standing[], moved: boolean): Promise<ReadonlyMap<string, number>> {
    if (standings.length === 0) return new Map();
    const values = standings.map(({ id, epoch, nextId }) => `('${id}', ${moved ? epoch : -1}, ${nextId})`).join(', ');
    const rows = await this.#rows(
      `SELECT w.conversation_id, min(w.from_id) FROM chaos.writes AS w JOIN (VALUES ${values}) AS h (id, epoch, next_id)
         ON w.conversation_id = h.id AND w.owner_epoch > h.epoch AND w.from_id >= h.next_id
       GROUP BY w.conversation_id`,
    );
    return new Map(rows.map(([id, from]) => [id!, Number(from)]));
  }

  /** In the order of the log. */
  async writesOf(id: string): Promise<readonly Written[]> {
    const rows = await this.#rows(
      `SELECT from_id, to_id, writer, owner_epoch FROM chaos.writes WHERE conversation_id = '${id}' ORDER BY from_id, at`,
    );
    return rows.map(([from, to, writer, epoch]) => ({ from: Number(from), to: Number(to), writer: writer!, epoch: Number(epoch) }));
  }

  /** The ids of its events, and where the log says that it ends. */
  async storedOf(id: string): Promise<{ readonly ids: readonly number[]; readonly nextId: number }> {
    const rows = await this.#rows(`SELECT id FROM tendon.events WHERE conversation_id = '${id}' ORDER BY id`);
    const [[nextId] = []] = await this.#rows(`SELECT next_id FROM tendon.logs WHERE conversation_id = '${id}'`);
    return { ids: rows.map(([one]) => Number(one)), nextId: Number(nextId) };
  }

  /** Appends that a server was refused whole in the last seconds. */
  async refusedTo(writer: string, seconds: number): Promise<number> {
    const [[count] = []] = await this.#rows(
      `SELECT count(*) FROM chaos.refusals WHERE writer = '${writer}' AND at > clock_timestamp() - interval '${seconds} seconds'`,
    );
    return Number(count);
  }

  async #rows(sql: string): Promise<readonly (readonly string[])[]> {
    const text = await this.#postgres.sql(DATABASE, sql);
    return text === '' ? [] : text.split('\n').map((line) => line.split('|'));
  }
}
