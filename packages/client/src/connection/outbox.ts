/**
 * Owns what was said and has not come back as an event yet.
 *
 * Invariants
 * O1  Entries leave only by their echo or by `cancel`: nothing said is lost without a trace.
 * O2  An entry is sent once per `take`; one whose connection broke before its echo is sent again only by `retry`, after a replay has had its say.
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

  /** The replay is over and did not hold them: they never arrived. */
  retry(): void {
    this.#setState('unconfirmed', 'waiting');
  }

  cancel(clientId: string): void {
    this.#entries = this.#entries.filter((entry) => entry.clientId !== clientId);
  }

  settle(event: Event): void {
    if (this.#entries.length === 0 || event.source !== 'user' || !('action' in event) || event.action !== 'message') return;
    const { client_id: clientId, content } = event.args;
    const index = this.#entries.findIndex(
      (entry) => entry.state !== 'waiting' && (clientId ? entry.clientId === clientId : entry.payload.args.content === content),
    );
    if (index >= 0) this.#entries = this.#entries.toSpliced(index, 1);
  }

  #setState(from: OutboxEntry['state'], to: OutboxEntry['state']): void {
    this.#entries = this.#entries.map((entry) => (entry.state === from ? { ...entry, state: to } : entry));
  }
}
