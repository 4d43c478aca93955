/** Owns the limits: one record for each scope, which overrides the configuration. Does not own the usage. */
import type { RecordStore } from '@tendon/core';
import { Limits } from '@tendon/protocol';
import type { LimitsConfig } from '../platform/config/governance-config.ts';

const LIMITS = 'limits';
/** Scopes without the defaults of `each`, which apply to users and keys. */
const GENERAL = /^(?:server|organisation:.*)$/;

export class LimitStore {
  readonly #records: RecordStore;
  readonly #config: LimitsConfig;
  #stored: ReadonlyMap<string, Limits> = new Map();
  #unwatch = (): void => undefined;

  private constructor(records: RecordStore, config: LimitsConfig) {
    this.#records = records;
    this.#config = config;
  }

  static async open(records: RecordStore, config: LimitsConfig): Promise<LimitStore> {
    const store = new LimitStore(records, config);
    await store.#read();
    store.#unwatch = records.watch(LIMITS, () => store.#read());
    return store;
  }

  /** The limits that apply to a scope now. */
  of(scope: string): Limits {
    const usual =
      scope === 'server' ? this.#config.server : GENERAL.test(scope) ? {} : { ...this.#config.each, ...given(this.#stored.get('each')) };
    return { ...usual, ...given(this.#stored.get(scope)) };
  }

  /** Every scope that may have limits, from the configuration or a record. */
  get scopes(): readonly string[] {
    return [...new Set(['server', 'each', ...this.#stored.keys()])];
  }

  /** Whether any scope has one of these limits. If none has, the callers count nothing. */
  limits(...names: readonly (keyof Limits)[]): boolean {
    return this.scopes.some((scope) => names.some((name) => typeof this.of(scope)[name] === 'number'));
  }

  /** Fields that are not given stay as they are; `null` removes a limit. */
  async set(scope: string, limits: Limits): Promise<void> {
    await this.#records.update<Limits>(LIMITS, scope, (now) => ({ sort: scope, value: { ...now, ...limits } }));
    await this.#read();
  }

  async remove(scope: string): Promise<boolean> {
    const isRemoved = await this.#records.delete(LIMITS, scope);
    await this.#read();
    return isRemoved;
  }

  close(): void {
    this.#unwatch();
  }

  async #read(): Promise<void> {
    const records = await this.#records.list(LIMITS);
    this.#stored = new Map(records.flatMap(({ id, value }) => (Limits.safeParse(value).success ? [[id, value as Limits]] : [])));
  }
}

function given(limits: Limits = {}): Limits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null && value !== undefined));
}
