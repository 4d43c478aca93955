import type { ConversationConnection, Rest } from '@tendon/client';

/** The chat or editor in which a person gives commands about one conversation. */
export interface CommandPlace {
  readonly rest: Rest;
  /** None before the first message of a chat. */
  readonly connection: ConversationConnection | undefined;
  say(text: string): void;
}
