import { SuccessObservation } from '@tendon/protocol';
import { isWithin } from '@tendon/runtime';
import type { Logger } from '../platform/logger.ts';
import { rootIdOf, type StoredConversation } from './conversation-records.ts';
import type { ConversationRegistry } from './conversation-registry.ts';
import type { OpenConversation } from './open-conversations.ts';

const MAX_TITLE = 100;

/**
 * Notifies conversations of each other when their agents work in one folder at the same time: neither knows why a file that it has read is
 * another one now. Owns which of the open ones were notified; an agent and those that it delegated to are meant to share.
 */
export class SharedFolders {
  readonly #registry: Pick<ConversationRegistry, 'open' | 'records' | 'roots'>;
  readonly #logger: Logger;
  /** The ids that each open conversation was notified of. */
  readonly #notified = new WeakMap<OpenConversation, Set<string>>();

  constructor(registry: Pick<ConversationRegistry, 'open' | 'records' | 'roots'>, logger: Logger) {
    this.#registry = registry;
    this.#logger = logger;
  }

  /** This one is about to work. Never rejects: the work does not depend on it. */
  async notify(record: StoredConversation, open: OpenConversation): Promise<void> {
    try {
      // On another host a path is a name, and two conversations may give it to two folders.
      if ((await this.#registry.roots).isRemote) return;
      for (const other of this.#registry.open.values()) {
        if (other === open || !other.isBusy()) continue;
        const theirs = await this.#registry.records.get(other.conversation.id);
        if (!theirs || rootIdOf(theirs) === rootIdOf(record) || !isShared(theirs.workspace, record.workspace)) continue;
        await this.#note(open, theirs);
        await this.#note(other, record);
      }
    } catch (cause) {
      this.#logger.warn({ err: cause, conversation: record.id }, 'conversations in one folder could not be notified');
    }
  }

  async #note(open: OpenConversation, { id, title }: StoredConversation): Promise<void> {
    const known = this.#notified.get(open) ?? new Set();
    if (known.has(id)) return;
    this.#notified.set(open, known.add(id));
    const content =
      `Another conversation works in this folder now: ${JSON.stringify(title.slice(0, MAX_TITLE))} (${id}). ` +
      'Files may change that were read before: read a file again before changing it, and leave alone what others have made.';
    await open.conversation.note(() => [{ source: 'environment', ...SuccessObservation.create(content, {}) }]);
  }
}

function isShared(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}
