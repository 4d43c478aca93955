import type { EventAuthor, Scope } from '@tendon/protocol';

/** Who acts: what is recorded, counted and limited of a caller. It says nothing of any key. */
export interface Caller {
  /** Of a person who signed in, or whose key it is; unset: the server's own key, one of no user, a link. */
  readonly userId?: string;
  readonly userName?: string;
  /** The one that the caller acts in; set with `userId`. */
  readonly organisationId?: string;
  /** What it came in by, for buckets and logs: `owner`, `key <id>`, `login <id>`, `share <id>`. */
  readonly keyName: string;
  /** The id of the key of ours that it came in by. */
  readonly key?: string;
  /** The address that it came from, as the connection shows it. */
  readonly address?: string;
  /** A share has none: it shows its conversation. */
  readonly scope: Scope | undefined;
}

/** As events name the person; `undefined` where there are no users. */
export function authorOf(caller: Caller | undefined): EventAuthor | undefined {
  return caller?.userId === undefined ? undefined : { id: caller.userId, name: caller.userName ?? caller.userId };
}
