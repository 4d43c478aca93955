import type { SandboxInfo } from '@tendon/protocol';
import type { Engine } from '../app/engine.ts';

/** All sandboxes, with the titles of their conversations. */
export async function listTitled({ runtimes, conversations }: Pick<Engine, 'runtimes' | 'conversations'>): Promise<SandboxInfo[]> {
  const found = await runtimes.list();
  return Promise.all(found.map(async (one) => ({ ...one, title: (await conversations.get(one.conversation_id))?.title ?? null })));
}
