import { expect, it } from 'vitest';
import { usageUpdates } from './acp-updates.ts';
import { V2Updates } from './v2-updates.ts';

const words = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }) as const;
const idOf = (update: unknown) => (update as { readonly messageId: string }).messageId;

it('CK1002: pieces that follow each other are one message, and what comes after a prompt is another one', () => {
  const updates = new V2Updates();
  const [first, second] = [updates.of(words('It is ')), updates.of(words('done.'))];
  expect(idOf(second)).toBe(idOf(first));
  const asked = updates.asked([{ type: 'text', text: 'and now?' }]);
  const third = updates.of(words('Now too.'));
  expect(new Set([first, asked, third].map(idOf)).size).toBe(3);
});

it('CK1002: the name of a file is a name in its patch, whatever stands in it', () => {
  const update = new V2Updates().of({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call',
    content: [{ type: 'diff', path: '/w/a\n+++ b/etc/"x\\', oldText: 'old\n', newText: 'new' }],
  });
  const { content } = update as unknown as { readonly content: readonly [{ readonly patch: { readonly text: string } }] };
  const name = String.raw`w/a\n+++ b/etc/\"x\\`;
  const head = `diff --git "a/${name}" "b/${name}"\n--- "a/${name}"\n+++ "b/${name}"\n`;
  expect(content[0].patch.text).toBe(`${head}@@ -1,1 +1,1 @@\n-old\n+new\n\\ No newline at end of file\n`);
});

it('CK1041: how full the window is and what was spent is sent where the window is known, in both versions, within a message too', () => {
  const usage = { model: 'a', prompt_tokens: 1, completion_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, response_id: 'r' };
  const metrics = (context_window: number) => ({
    accumulated_cost: 0.25,
    max_budget_per_task: null,
    accumulated_token_usage: { ...usage, context_window, per_turn_token: 900 },
    costs: [],
    response_latencies: [],
    token_usages: [],
  });
  expect(usageUpdates(metrics(0))).toEqual([]);
  const [update] = usageUpdates(metrics(1_000));
  expect(update).toEqual({ sessionUpdate: 'usage_update', used: 900, size: 1_000, cost: { amount: 0.25, currency: 'USD' } });
  const updates = new V2Updates();
  const first = updates.of(words('It is '));
  expect(updates.of(update!)).toEqual(update);
  expect(idOf(updates.of(words('done.')))).toBe(idOf(first));
});
