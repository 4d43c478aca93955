import { expect, it } from 'vitest';
import { conversationsWith, made } from '../conversations.test-support.ts';
import type { StoredConversation } from '../conversation-records.ts';

/** What the log says of its policies, in order. */
async function reported({ conversations }: ReturnType<typeof conversationsWith>, id: string): Promise<readonly (string | undefined)[]> {
  const log = (await conversations.log(id))!;
  const events = await log.read({ from: 0 });
  return events.flatMap((event) => ('observation' in event && event.observation === 'success' ? [event.extras.confirmation_policy] : []));
}

it('SV1093: a change that a kill cut off behind its record is completed by the next server, or by who repeats it', async () => {
  const first = conversationsWith(30_000);
  const [id, other] = [await made(first.conversations), await made(first.conversations)];
  await first.conversations.close();
  const { records } = first.storage;
  for (const each of [id, other]) {
    const value = {
      ...(await records.get<StoredConversation>('conversations', each))!,
      confirmation_policy: 'always',
      policy_unreported: true,
    };
    await records.put('conversations', { id: each, sort: value.created_at, value });
  }
  await records.delete('active', other);
  const next = conversationsWith(30_000, { storage: first.storage });
  await next.conversations.wakeActive();
  await next.conversations.approvals.setPolicy(other, { policy: 'always' });
  expect(await reported(next, other)).toHaveLength(1);
  await expect.poll(() => reported(next, id)).toHaveLength(1);
  for (const each of [id, other]) await expect.poll(async () => (await next.conversations.get(each))?.policy_unreported).toBeUndefined();
  await next.conversations.approvals.setPolicy(id, { policy: 'always' });
  expect(await reported(next, id)).toHaveLength(1);
  await next.conversations.close();
});

it('SV1090: changes that come together are made one after the other, and the log ends with what holds', async () => {
  const on = conversationsWith(30_000);
  const id = await made(on.conversations);
  const modes = ['always', 'never', 'rules', 'risk'] as const;
  await Promise.all(modes.map((policy) => on.conversations.approvals.setPolicy(id, { policy })));
  expect(await reported(on, id)).toHaveLength(4);
  expect((await on.conversations.get(id))?.confirmation_policy).toBe('risk');
  await on.conversations.close();
});
