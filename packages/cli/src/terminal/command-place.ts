import type { ConversationConnection, Rest } from '@tendon/client';

/** Where a person gives commands about one conversation: a chat, or an editor. */
export interface CommandPlace {
  readonly rest: Rest;
  /** None before the first message of a chat. */
  readonly connection: ConversationConnection | undefined;
  say(text: string): void;
}
