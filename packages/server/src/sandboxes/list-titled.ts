import type { SandboxInfo } from '@tendon/protocol';
import type { SandboxPool } from '@tendon/runtime';

export interface TitledListContext {
  readonly conversations: { get(id: string): Promise<{ readonly title: string } | undefined> };
  readonly runtimes: Pick<SandboxPool, 'list'>;
}

/** All sandboxes, with the titles of their conversations. */
export async function listTitled({ runtimes, conversations }: TitledListContext): Promise<SandboxInfo[]> {
  const found = await runtimes.list();
  return Promise.all(found.map(async (one) => ({ ...one, title: (await conversations.get(one.conversation_id))?.title ?? null })));
}
