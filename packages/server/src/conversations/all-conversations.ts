import type { PageQuery, StoredConversation } from './conversation-records.ts';
import type { Conversations } from './conversations.ts';

/** Where a pass over all conversations continues. */
export type ConversationCursor = NonNullable<PageQuery['before']>;

const PAGE = 100;

/** Reads the conversations of the server page by page, newest first; with `before`, those after the cursor. */
export async function* allConversations(
  conversations: Pick<Conversations, 'list'>,
  query: Pick<PageQuery, 'before' | 'isMeant'> = {},
): AsyncGenerator<StoredConversation> {
  let { before } = query;
  for (;;) {
    const page = await conversations.list({ ...query, limit: PAGE, ...(before && { before }) });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    before = cursorAt(last);
  }
}

export function cursorAt({ created_at: sort, id }: StoredConversation): ConversationCursor {
  return { sort, id };
}
