/**
 * The audit log of a server: what is reported to it becomes entries of the chain.
 *
 * AU1  Nothing secret is in an entry: texts pass the mask and are short, and what is recorded are names.
 * AU2  Wrong keys cannot fill it: beyond `FAILED_LOGINS` they are counted, and the next entry says how many there were.
 * AU3  A storage that fails stops no act: the entry is logged whole, and counted.
 */
import { hostname } from 'node:os';
import type { Clock, RecordStore } from '@tendon/core';
import type { AuditEntry, ParsedAction } from '@tendon/protocol';
import type { Mask, Secret } from '@tendon/protocol/masking';
import { Counter } from '../platform/exposition.ts';
import { createRateLimit, type RateLimit } from '../platform/http/rate-limit.ts';
import type { Logger } from '../platform/logger.ts';
import type { Act, Audit } from './audit.ts';
import { AuditChain } from './audit-chain.ts';
import { auditRequests } from './audit-requests.ts';
import { sealKey } from './sealed-entry.ts';

/** What the keys are called. */
interface KeyNames {
  get(id: string): { readonly value: { readonly name: string } } | undefined;
}

export interface AuditOptions {
  readonly records: RecordStore;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
  readonly mask: Mask;
  readonly logger: Logger;
  readonly keys: KeyNames;
  readonly version: string;
}

const FAILED_LOGINS: RateLimit = { burst: 30, perSecond: 1, limitsLoopback: true };
const VERDICTS: Readonly<Record<string, string>> = { user_confirmed: 'action.approved', user_rejected: 'action.refused' };
const MAX_TEXT = 200;
const MAX_NAMES = 50;

export function openAudit(options: AuditOptions): Audit {
  return new ServerAudit(options);
}

class ServerAudit implements Audit {
  readonly #options: AuditOptions;
  readonly #chain: AuditChain;
  readonly #server = `${hostname()}:${process.pid}`;
  readonly #secondsToWait = createRateLimit(FAILED_LOGINS);
  #unrecorded = 0;
  #hasBegun = false;
  readonly #entries = new Counter({
    name: 'tendon_audit_entries_total',
    help: 'Entries of the audit log that this server wrote, by what came of the act',
    labels: ['outcome'],
  });
  readonly #failures = new Counter({
    name: 'tendon_audit_failures_total',
    help: 'Entries of the audit log that could not be stored; the log of the server has them',
  });

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#chain = new AuditChain(options.records, { clock: options.clock, key: sealKey(options.jwtSecret) });
  }

  get instruments(): Audit['instruments'] {
    return [this.#entries, this.#failures];
  }

  requests(app: Parameters<Audit['requests']>[0]): void {
    auditRequests(app, {
      record: (act) => this.record(act),
      failedLogin: (address, where) => this.failedLogin(address, where),
    });
  }

  async record({ by, action, target, outcome = 'done', detail = {} }: Act): Promise<void> {
    const content = {
      time: this.#options.clock.now().toISOString(),
      actor: this.#actor(by),
      action,
      target: this.#textOrNull(target),
      outcome,
      detail: Object.fromEntries(Object.entries(detail).map(([name, value]) => [this.#text(name), this.#safe(value)])),
      server: this.#server,
    };
    try {
      await this.#chain.append(content);
      this.#entries.add({ outcome });
    } catch (cause) {
      this.#failures.add({});
      this.#options.logger.error({ err: cause, audit: content }, 'an entry of the audit log could not be stored');
    }
  }

  async submitted(conversation: string, { action, args }: ParsedAction, by: Act['by']): Promise<void> {
    const verdict = action === 'change_agent_state' ? VERDICTS[args.agent_state] : undefined;
    if (verdict !== undefined) await this.record({ by, action: verdict, target: conversation });
    else if (action === 'run' && args.take_over) await this.record({ by, action: 'terminal.taken-over', target: conversation });
  }

  failedLogin(address: string, where: string): void {
    if (this.#secondsToWait('', this.#options.clock.now().getTime()) !== undefined) return void (this.#unrecorded += 1);
    const detail = { where, ...(this.#unrecorded > 0 && { unrecorded: this.#unrecorded }) };
    this.#unrecorded = 0;
    void this.record({ by: { keyName: 'nobody', scope: undefined, address }, action: 'login.failed', outcome: 'refused', detail });
  }

  async list(query: Parameters<Audit['list']>[0]): ReturnType<Audit['list']> {
    const [{ entries, next }, head] = await Promise.all([this.#chain.list(query), this.#chain.head()]);
    return { entries: [...entries], next, head };
  }

  async begin(): Promise<void> {
    this.#hasBegun = true;
    await this.record({ by: undefined, action: 'server.started', detail: { version: this.#options.version } });
  }

  async close(): Promise<void> {
    if (this.#hasBegun) await this.record({ by: undefined, action: 'server.stopped' });
    await this.#chain.close();
  }

  #actor(by: Act['by']): AuditEntry['actor'] {
    if (!by) return { user: null, name: 'server', key: null, address: null };
    const key = by.key === undefined ? undefined : this.#options.keys.get(by.key)?.value.name;
    const [user, name] = [this.#textOrNull(by.userId), this.#text(by.keyName)];
    return { user, name, key: this.#textOrNull(key), address: this.#textOrNull(by.address) };
  }

  #text(text: string): string {
    const shown = this.#options.mask.text(text.slice(0, 4 * MAX_TEXT)).replaceAll(/\p{Cc}/gu, ' ');
    return (shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT - 1)}…` : shown).toWellFormed();
  }

  #textOrNull(text: string | undefined): string | null {
    return text === undefined ? null : this.#text(text);
  }

  #safe(value: AuditEntry['detail'][string]): AuditEntry['detail'][string] {
    if (typeof value === 'string') return this.#text(value);
    return Array.isArray(value) ? value.slice(0, MAX_NAMES).map((each) => this.#text(each)) : value;
  }
}
