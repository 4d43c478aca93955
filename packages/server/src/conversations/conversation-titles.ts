/**
 * Owns what conversations are called: the first words of the task, what a model makes of it, and the name that a person gives, which
 * stays. It does not own when a conversation is given a task.
 */
import type { ActionDraft } from '@tendon/protocol';
import type { Mask } from '@tendon/protocol/masking';
import type { Logger } from '../platform/logger.ts';
import type { StoredConversation } from './conversation-records.ts';
import type { ConversationRegistry } from './conversation-registry.ts';

const MAX_LENGTH = 60;

export interface TitleOptions {
  /** Asks a model for a title, which replaces the first words of the task; default: these stay. */
  readonly title?: (record: StoredConversation, task: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Titles come from tasks, and a task may hold a key. Default: as they are. */
  readonly mask?: Pick<Mask, 'text'>;
  readonly logger: Logger;
}

export class ConversationTitles {
  readonly #registry: ConversationRegistry;
  readonly #options: TitleOptions;
  readonly #signal: AbortSignal;

  /** `signal` ends the questions to models. */
  constructor(registry: ConversationRegistry, options: TitleOptions, signal: AbortSignal) {
    this.#registry = registry;
    this.#options = options;
    this.#signal = signal;
  }

  /** False when there is no such conversation. */
  rename(id: string, given: string): Promise<boolean> {
    return this.#entitle(id, this.#masked(given), () => true);
  }

  /** Names it after the task that this action gives, if it has no name yet; a model's title comes later, and nobody waits for it. */
  async nameAfter(before: StoredConversation, action: ActionDraft): Promise<void> {
    const { id } = before;
    const unnamed = defaultTitle(id);
    if (before.title !== unnamed) return;
    const task = action.action === 'message' ? action.args.content : action.action === 'start' ? action.args.task : '';
    const shown = this.#masked(task); // before it is cut: half a key is one too
    const title = titleFromTask(shown);
    if (!title) return;
    await this.#entitle(id, title, (record) => record.title === unnamed);
    this.#entitleByModel(before, shown, title).catch((cause: unknown) => {
      if (!this.#signal.aborted) this.#options.logger.warn({ err: cause, conversation: id }, 'a title could not be asked for');
    });
  }

  /** What a person called it meanwhile stays. */
  async #entitleByModel(before: StoredConversation, task: string, title: string): Promise<void> {
    const better = await this.#options.title?.(before, task, this.#signal);
    if (better && !this.#signal.aborted) await this.#entitle(before.id, this.#masked(better), (record) => record.title === title);
  }

  async #entitle(id: string, title: string, fits: (record: StoredConversation) => boolean): Promise<boolean> {
    const { records } = this.#registry;
    let isNew = false;
    const record = await records.change(id, (found) => {
      isNew = fits(found);
      return isNew ? { title, updated_at: records.now() } : undefined;
    });
    if (isNew) this.#registry.announce(id, { volatile: 'status', type: 'info', message: id, conversation_title: title });
    return record !== undefined;
  }

  #masked(text: string): string {
    return this.#options.mask?.text(text) ?? text;
  }
}

/** What a conversation is called until somebody says what it is about. */
export function defaultTitle(conversationId: string): string {
  return `Conversation ${conversationId.slice(0, 5)}`;
}

/** The first words of the task on one line, cut at a word; `undefined` when there are none. */
export function titleFromTask(task: string): string | undefined {
  const line = task
    .slice(0, 1000)
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  if (line.length <= MAX_LENGTH) return line;
  const cut = line.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  const lastSpace = cut.lastIndexOf(' ');
  return `${lastSpace > MAX_LENGTH / 2 ? cut.slice(0, lastSpace) : cut}…`;
}
