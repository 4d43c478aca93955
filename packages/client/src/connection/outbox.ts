/**
 * Owns the messages that have not come back as an event yet.
 *
 * Invariants
 * OU1  Entries leave only by their echo or by `cancel`: no message is lost without a trace.
 * OU2  An entry is sent once per `take`; one whose connection broke before its echo is sent again only by `retry` or `resend`.
 * OU3  The id identifies an echo. Only for a server that returns no ids does the text.
 */
import type { Event } from '@tendon/protocol';
import type { ActionPayload } from '../actions.ts';

export interface OutboxEntry {
  readonly clientId: string;
  readonly payload: ActionPayload;
  readonly state: 'waiting' | 'sent' | 'unconfirmed';
  /** Milliseconds since the epoch. */
  readonly since: number;
}

const MAX_ENTRIES = 200;

export class Outbox {
  #entries: OutboxEntry[] = [];

  get entries(): readonly OutboxEntry[] {
    return this.#entries;
  }

  /** `false` when it is full. */
  add(clientId: string, payload: ActionPayload, now: number): boolean {
    if (this.#entries.length >= MAX_ENTRIES) return false;
    this.#entries = [...this.#entries, { clientId, payload, state: 'waiting', since: now }];
    return true;
  }

  /** Everything that waits, marked as sent. */
  take(): readonly ActionPayload[] {
    const waiting = this.#entries.filter((entry) => entry.state === 'waiting');
    if (waiting.length > 0) this.#setState('waiting', 'sent');
    return waiting.map((entry) => entry.payload);
  }

  connectionLost(): void {
    this.#setState('sent', 'unconfirmed');
  }

  get hasUnconfirmed(): boolean {
    return this.#entries.some((entry) => entry.state === 'unconfirmed');
  }

  /** The replay is over and did not contain them: they never arrived, or the server recognizes them when they are sent again. */
  retry(): void {
    this.#setState('unconfirmed', 'waiting');
  }

  /** The user decided that this one did not arrive. */
  resend(clientId: string): void {
    this.#entries = this.#entries.map((entry) =>
      entry.clientId === clientId && entry.state === 'unconfirmed' ? { ...entry, state: 'waiting' } : entry,
    );
  }

  cancel(clientId: string): void {
    this.#entries = this.#entries.filter((entry) => entry.clientId !== clientId);
  }

  settle(event: Event, { givesIdsBack }: { readonly givesIdsBack: boolean }): void {
    if (this.#entries.length === 0 || event.source !== 'user' || !('action' in event) || event.action !== 'message') return;
    const { client_id: clientId, args } = event;
    const isEcho = ({ payload, state, ...entry }: OutboxEntry): boolean =>
      clientId === undefined ? !givesIdsBack && state !== 'waiting' && payload.args.content === args.content : entry.clientId === clientId;
    const index = this.#entries.findIndex(isEcho);
    if (index >= 0) this.#entries = this.#entries.toSpliced(index, 1);
  }

  #setState(from: OutboxEntry['state'], to: OutboxEntry['state']): void {
    this.#entries = this.#entries.map((entry) => (entry.state === from ? { ...entry, state: to } : entry));
  }
}
