import { expect, it } from 'vitest';
import { stage } from '../conversation/conversation.test-support.ts';
import { createScriptedProvider } from '../llm/scripted-provider.ts';
import type { LlmProvider } from '../llm/llm-provider.ts';

/** A model whose answers cost 300,000 tokens each, at a price that nobody knows. */
function unpriced(): LlmProvider {
  const usage = { inputTokens: 290_000, outputTokens: 10_000 };
  const provider = createScriptedProvider(() => ({ toolCalls: [{ name: 'think', arguments: { thought: String(Math.random()) } }], usage }));
  return {
    ...provider,
    async *stream(request, options) {
      for await (const event of provider.stream(request, options))
        yield event.type === 'done' ? { ...event, answer: { ...event.answer, isUnpriced: true } } : event;
    },
  };
}

it('LM730: without a price the budget counts tokens, and says so', async () => {
  const { say, untilState, events } = await stage({ provider: unpriced(), settings: { maxBudgetUsd: 1 } });
  await say('think on');
  const { extras } = (await untilState('error')) as unknown as { extras: { reason: string } };
  expect(extras.reason).toContain('a million tokens count as a dollar: it has used 1200000 tokens; its budget is $1.00');
  expect((await events()).filter((event) => 'action' in event && event.action === 'think')).toHaveLength(4);
});
