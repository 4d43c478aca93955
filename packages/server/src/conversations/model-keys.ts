/**
 * Owns the accesses to models that single conversations were given by their clients, with `initialize`. They lie sealed in the
 * conversation's record, so that the next server asks with the same key; it does not own when a record is written.
 *
 * MK1  A key leaves only as `Secret`. It is hidden while its conversation is open, or about to be.
 * MK2  What a client gave last counts from the next request on, whatever record of an earlier moment is asked about.
 */
import { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';
import { seal, unseal } from '../platform/auth/stored-secret.ts';
import type { StoredConversation } from './conversation-records.ts';
import type { ModelAccess } from './create-conversation-params.ts';

type SealedRecord = Pick<StoredConversation, 'id' | 'model_access'>;

const SealedAccess = z.strictObject({ key: z.string().optional(), baseUrl: z.string().optional(), isAdmins: z.boolean().optional() });

interface Held {
  readonly sealed: string;
  readonly access: ModelAccess;
}

export class ModelKeys {
  readonly #jwtSecret: Secret;
  readonly #onChange: () => void;
  /** Of conversations that are open, or were made just now. */
  readonly #held = new Map<string, Held>();

  /** `onChange`: called in the tick of each change of what is hidden. */
  constructor(jwtSecret: Secret, onChange = (): void => undefined) {
    this.#jwtSecret = jwtSecret;
    this.#onChange = onChange;
  }

  /** For the record; `before` where that seals the same. */
  sealed({ apiKey, baseUrl, isAdmins }: ModelAccess, before?: string): string {
    const text = JSON.stringify({ key: apiKey?.reveal(), baseUrl, isAdmins } satisfies z.input<typeof SealedAccess>);
    return before !== undefined && unseal(before, this.#jwtSecret) === text ? before : seal(text, this.#jwtSecret);
  }

  /** Of a record, when a client names these; `undefined`: none. */
  changes(
    now: Pick<StoredConversation, 'model' | 'model_access'>,
    { llm, model }: { readonly llm?: ModelAccess | undefined; readonly model?: string | undefined },
  ): Partial<StoredConversation> | undefined {
    const next = { model: model || now.model, model_access: llm ? this.sealed(llm, now.model_access) : now.model_access };
    return next.model === now.model && next.model_access === now.model_access ? undefined : next;
  }

  /** What the record seals is hidden, and counts, until `forget` or the next one. */
  hold({ id, model_access: sealed }: SealedRecord): void {
    const access = this.#unsealed(sealed);
    if (sealed === undefined || !access) return;
    this.#held.set(id, { sealed, access });
    this.#onChange();
  }

  /** As the conversation is opened. What was given meanwhile stays. */
  open(record: SealedRecord): void {
    if (!this.#held.has(record.id)) this.hold(record);
  }

  /** `undefined`: it has none of its own, or it was sealed under a JWT secret that is gone. */
  of({ id, model_access: sealed }: SealedRecord): ModelAccess | undefined {
    return this.#held.get(id)?.access ?? this.#unsealed(sealed);
  }

  /** As a record has it, of now. */
  sealedOf({ id, model_access: sealed }: SealedRecord): string | undefined {
    return this.#held.get(id)?.sealed ?? sealed;
  }

  /** Default: all. Another server may have what this one had. */
  forget(id?: string): void {
    if (id === undefined) this.#held.clear();
    else this.#held.delete(id);
    this.#onChange();
  }

  get secrets(): readonly Secret[] {
    return [...this.#held.values()].flatMap(({ access }) => access.apiKey ?? []);
  }

  #unsealed(sealed: string | undefined): ModelAccess | undefined {
    const text = sealed && unseal(sealed, this.#jwtSecret);
    const read = text ? SealedAccess.safeParse(JSON.parse(text)).data : undefined;
    if (!read) return undefined;
    const { key, ...access } = read;
    return { ...access, ...(key !== undefined && { apiKey: new Secret(key) }) };
  }
}
