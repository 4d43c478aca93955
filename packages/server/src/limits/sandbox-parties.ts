import type { Party } from './party.ts';
import type { PartySandboxes } from './quotas.ts';

/** Maps each sandbox of this server to the party that it counts for. Does not own the sandboxes. */
export class SandboxParties implements PartySandboxes {
  /** By conversation. An entry without a sandbox does not count. */
  readonly #parties = new Map<string, Party>();
  readonly #has: (id: string) => boolean;

  constructor(has: (id: string) => boolean) {
    this.#has = has;
  }

  /** Called when the conversation is opened: it may get a sandbox from now on. */
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
