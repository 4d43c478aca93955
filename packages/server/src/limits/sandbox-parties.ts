import type { Party } from './party.ts';
import type { PartySandboxes } from './quotas.ts';

/** Whose the sandboxes of this server are. It does not own the sandboxes. */
export class SandboxParties implements PartySandboxes {
  /** By conversation; those without a sandbox are forgotten when they are counted, until they are opened again. */
  readonly #parties = new Map<string, Party>();
  readonly #has: (id: string) => boolean;

  constructor(has: (id: string) => boolean) {
    this.#has = has;
  }

  /** It may get one from now on. */
  note(id: string, party: Party): void {
    this.#parties.set(id, party);
  }

  forget(id: string): void {
    if (!this.#has(id)) this.#parties.delete(id);
  }

  has(id: string): boolean {
    return this.#has(id);
  }

  *parties(): Iterable<Party> {
    for (const [id, party] of this.#parties) if (this.#has(id)) yield party;
  }
}
