import type { AuditEntry, AuditOutcome, AuditPage, AuditQuery, ParsedAction } from '@tendon/protocol';
import type { Caller } from '../platform/auth/caller.ts';
import type { App } from '../platform/http/app.ts';
import type { Instrument } from '../platform/exposition.ts';

/** What somebody did, as it is reported to the audit log. */
export interface Act {
  /** `undefined`: the server by itself. */
  readonly by: Caller | undefined;
  /** `subject.verb`, of which the subject is what lists filter by. */
  readonly action: string;
  readonly target?: string | undefined;
  /** Default: done. */
  readonly outcome?: AuditOutcome;
  /** Names, never values. */
  readonly detail?: AuditEntry['detail'];
}

/** Who did what that matters to security, for those who look later. Only a server that is configured so has it. */
export interface Audit {
  /** Requests that are audited are answered when their entry is durable; call it before the routes are added. */
  requests(app: App): void;
  /** Resolves when the entry is durable. Never rejects: what cannot be stored is logged whole and counted. */
  record(act: Act): Promise<void>;
  /** A wrong key or password. More than a few a second count together in the next entry. */
  failedLogin(address: string, where: string): void;
  /** A client's action that a conversation took: verdicts and a hold of its terminal are recorded. The others are in the log of the conversation alone. */
  submitted(conversation: string, action: ParsedAction, by: Caller | undefined): Promise<void>;
  list(query: AuditQuery): Promise<AuditPage>;
  /** Says that the server begins: one that was killed is seen by the next beginning without an end before it. */
  begin(): Promise<void>;
  readonly instruments: readonly Instrument[];
  /** Says that the server ends, if it began. */
  close(): Promise<void>;
}
