/**
 * Decides whether a party may begin more work, by the limits of the server, the organisation and the user or key, and computes how much
 * the party may still spend.
 *
 * QU1  The limits on `running` and `sandboxes` refuse new work and never end running work. An agent whose budget is spent stops before its
 *      next request to a model.
 * QU2  Each server knows what the others run with a delay of a few seconds, so together they may exceed a limit by a few conversations.
 */
import { costOf, withStream, type LlmProvider } from '@tendon/core';
import { catalogError, Limits, type CatalogError, type LimitUse, type ServerLimits } from '@tendon/protocol';
import { Counter, gauge, type Instrument } from '../platform/exposition.ts';
import type { LimitStore } from './limit-store.ts';
import { partyOf, scopesOf, type OwnerFields, type Party } from './party.ts';
import type { Running, Work } from './running.ts';
import type { SharedUsage, Usage } from './shared-usage.ts';
import type { Period, Spend } from './spend.ts';

export interface QuotaParts {
  readonly store: LimitStore;
  readonly running: Running;
  readonly spend: Spend;
  readonly usage: Pick<SharedUsage, 'others'>;
  readonly sandboxes: PartySandboxes;
}

/** The sandboxes of this server, by party. */
export interface PartySandboxes {
  note(id: string, party: Party): void;
  forget(id: string): void;
  parties(): Iterable<Party>;
  has(id: string): boolean;
}

const RETRY_SECONDS = 15;

export class Quotas {
  readonly store: LimitStore;
  readonly running: Running;
  readonly #parts: QuotaParts;
  readonly #refused = new Counter({
    name: 'tendon_limit_refusals_total',
    help: 'Work that was refused because of a limit: running, sandboxes, usd_per_day, usd_per_month, or waiting',
    labels: ['limit'],
  });

  constructor(parts: QuotaParts) {
    this.#parts = parts;
    this.store = parts.store;
    this.running = parts.running;
  }

  get instruments(): readonly Instrument[] {
    return [
      this.#refused,
      gauge(
        'tendon_conversations_at_work',
        'Conversations of this server whose agents work, with those that they delegate to as one',
        () => this.running.totals().taken,
      ),
      gauge(
        'tendon_conversations_waiting',
        'Conversations of this server that wait until others rest',
        () => this.running.totals().waiting,
      ),
    ];
  }

  /** Called when a conversation is in memory: it may get a sandbox. */
  opened({ id, party }: Work): void {
    this.#parts.sandboxes.note(id, party);
  }

  closed(id: string): void {
    this.running.rested(id);
    this.#parts.sandboxes.forget(id);
  }

  /** Counts the work from now on, or returns why it may not begin. Rejects with the storage's error. */
  async begin(work: Work): Promise<CatalogError | undefined> {
    if (this.running.isAtWork(work.rootId)) return this.#overSpent(work.party);
    const overSpent = await this.#overSpent(work.party);
    const others = await this.#others(work.party);
    // Check and count in one tick, so that concurrent calls see each other.
    const refusal = overSpent ?? (this.running.isAtWork(work.rootId) ? undefined : this.#tooMany(work, others));
    if (!refusal) this.running.begin(work);
    return refusal;
  }

  /** Why the party may not create another conversation, if it may not. */
  async refusal(party: Party): Promise<CatalogError | undefined> {
    return (await this.#overSpent(party)) ?? (this.running.isFull(party) ? this.#full() : undefined);
  }

  /** The usage of the other servers by scope; empty when no limit depends on it. */
  async #others(party: Party): Promise<Usage> {
    const scopes = this.store.limits('running', 'sandboxes') ? scopesOf(party) : [];
    return Object.fromEntries(await Promise.all(scopes.map(async (scope) => [scope, await this.#parts.usage.others(scope)] as const)));
  }

  #tooMany({ id, party }: Work, others: Usage): CatalogError | undefined {
    if (this.running.isFull(party)) return this.#full();
    if (!this.store.limits('running', 'sandboxes')) return undefined;
    const own = this.own();
    for (const scope of scopesOf(party)) {
      const { running, sandboxes } = this.store.of(scope);
      const used = {
        running: (own[scope]?.running ?? 0) + (others[scope]?.running ?? 0),
        sandboxes: (own[scope]?.sandboxes ?? 0) + (others[scope]?.sandboxes ?? 0),
      };
      if (typeof running === 'number' && used.running >= running)
        return this.#exceeded('running', tooManyWords(scope, 'conversations at work', running, `${used.running} are`, 'rests'));
      if (typeof sandboxes === 'number' && used.sandboxes >= sandboxes && !this.#parts.sandboxes.has(id))
        return this.#exceeded('sandboxes', tooManyWords(scope, 'sandboxes', sandboxes, `there are ${used.sandboxes}`, 'ends'));
    }
    return undefined;
  }

  async #overSpent(party: Party): Promise<CatalogError | undefined> {
    if (!this.store.limits('usd_per_day', 'usd_per_month')) return undefined;
    const { spend } = this.#parts;
    await spend.refresh(scopesOf(party));
    for (const { scope, period, limit } of this.#budgets(party)) {
      const spent = spend.of(scope, period);
      if (spent < limit) continue;
      const end = spend.endOf(period);
      const words = `${spentWords(scope, period, limit, spent)}. It is free again at ${new Date(end).toISOString()}`;
      return this.#exceeded(`usd_per_${period}`, words, spend.secondsTo(end));
    }
    return undefined;
  }

  *#budgets(party: Party): Iterable<{ readonly scope: string; readonly period: Period; readonly limit: number }> {
    for (const scope of scopesOf(party)) {
      const { usd_per_day: day, usd_per_month: month } = this.store.of(scope);
      if (typeof day === 'number') yield { scope, period: 'day', limit: day };
      if (typeof month === 'number') yield { scope, period: 'month', limit: month };
    }
  }

  /** How much the party may still spend, as far as this server knows; `undefined` without a limit. */
  leftUsd(party: Party): number | undefined {
    if (!this.store.limits('usd_per_day', 'usd_per_month')) return undefined;
    const lefts = [...this.#budgets(party)].map(({ scope, period, limit }) => Math.max(0, limit - this.#parts.spend.of(scope, period)));
    return lefts.length === 0 ? undefined : Math.min(...lefts);
  }

  /** A provider that adds the cost of each answer to the spending of the conversation's owner. */
  charged(record: OwnerFields, provider: LlmProvider): LlmProvider {
    const scopes = scopesOf(partyOf(record));
    const charge = (usd: number): void => {
      if (this.store.limits('usd_per_day', 'usd_per_month')) this.#parts.spend.add(scopes, usd);
    };
    return withStream(provider, async function* (request, options) {
      for await (const event of provider.stream(request, options)) {
        if (event.type === 'done') charge(costOf(event.answer));
        yield event;
      }
    });
  }

  /** The usage on this server, by scope. */
  own(): Usage {
    const usage: Record<string, { running: number; sandboxes: number }> = {};
    const count = (party: Party, name: 'running' | 'sandboxes'): void => {
      for (const scope of scopesOf(party)) (usage[scope] ??= { running: 0, sandboxes: 0 })[name] += 1;
    };
    for (const party of this.#parts.sandboxes.parties()) count(party, 'sandboxes');
    for (const [id, party] of this.running.atWork()) {
      count(party, 'running');
      // A working agent may start its sandbox at any time: reserve one for it.
      if (!this.#parts.sandboxes.has(id)) count(party, 'sandboxes');
    }
    return usage;
  }

  async used(scope: string): Promise<LimitUse> {
    const { spend, usage } = this.#parts;
    const [others] = await Promise.all([usage.others(scope), spend.refresh([scope])]);
    const own = this.own()[scope] ?? { running: 0, sandboxes: 0 };
    return {
      running: own.running + others.running,
      sandboxes: own.sandboxes + others.sandboxes,
      usd_today: spend.of(scope, 'day'),
      usd_this_month: spend.of(scope, 'month'),
    };
  }

  /** Of the limits of the server, which there are and which are reached. */
  async ofServer(): Promise<ServerLimits> {
    const [limits, used] = [this.store.of('server'), await this.used('server')];
    const by = { running: used.running, sandboxes: used.sandboxes, usd_per_day: used.usd_today, usd_per_month: used.usd_this_month };
    const limited = Limits.keyof().options.filter((name) => typeof limits[name] === 'number');
    return { limited, reached: limited.filter((name) => by[name] >= limits[name]!) };
  }

  #full(): CatalogError {
    this.#refused.add({ limit: 'waiting' });
    return { ...catalogError('QUEUE_FULL'), retryAfter: RETRY_SECONDS };
  }

  #exceeded(limit: keyof Limits, words: string, retryAfter = RETRY_SECONDS): CatalogError {
    this.#refused.add({ limit });
    return { ...catalogError('QUOTA_EXCEEDED', words), retryAfter };
  }
}

/** Of the server without figures: those that are refused do not learn what others use. */
function tooManyWords(scope: string, things: string, limit: number, used: string, ends: 'rests' | 'ends'): string {
  const is =
    scope === 'server' ? `The server has as many ${things} as it may` : `${nameOf(scope)} may have ${limit} ${things} at once, and ${used}`;
  return `${is}. One that ${ends} makes room`;
}

function spentWords(scope: string, period: Period, limit: number, spent: number): string {
  if (scope === 'server') return `The server has spent what it may in a ${period}`;
  const has = scope.startsWith('organisation:') ? 'has' : 'have';
  return `${nameOf(scope)} may spend $${limit.toFixed(2)} in a ${period}, and ${has} spent $${spent.toFixed(2)}`;
}

function nameOf(scope: string): string {
  return scope.startsWith('organisation:') ? 'Your organisation' : 'You';
}
