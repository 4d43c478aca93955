/** An edit that a model writes out, in a whole conversation: a client's draft, a scripted model, the real sandbox. */
import { TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { startModelEndpoint } from '../../packages/core/src/llm/contract/model-endpoint.ts';

const PATH = '/workspace/app.py';
const SOURCE = 'def one():\n    return 1\n\n\ndef two():\n    return 3\n';
const usage = { input: 1000, output: 100, cacheRead: 0 };

it('RT190, RT193, RT194: a draft is written out by the model, checked, applied and charged', async () => {
  await using model = await startModelEndpoint('openai', [
    { text: ['```python\ndef two():\n', '    return 2\n```'], usage },
    { text: ['```python\ndef two(:\n    return 2\n```'], usage },
    { text: ['I would rather not.'], usage },
    { status: 401 },
  ]);
  const tendon = await TendonProcess.start({ LLM_MODEL: 'openai/gpt-4o', LLM_BASE_URL: model.url, LLM_API_KEY: 'a-key-of-the-test' });
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  watcher.send('write', { path: PATH, content: SOURCE });
  await watcher.until((event) => event.observation === 'write');

  /** Sends a draft of lines 5 and 6; what it is answered with. */
  async function draft(args: Record<string, unknown> = {}): Promise<WireEvent> {
    const from = watcher.lastId;
    watcher.send('edit', { path: PATH, impl_source: 'llm_based_edit', content: 'def two():\n    return 2', start: 5, end: 6, ...args });
    return watcher.until((event) => event.id > from && event.observation === 'edit');
  }
  const tokensOf = (event: WireEvent): unknown =>
    (event as { llm_metrics?: { accumulated_token_usage?: { prompt_tokens?: number } } }).llm_metrics?.accumulated_token_usage
      ?.prompt_tokens;

  const applied = await draft();
  expect(applied).toMatchObject({
    content: expect.stringContaining('-    return 3\n+    return 2\n'),
    extras: { path: PATH, prev_exist: true, new_content: SOURCE.replace('3', '2'), impl_source: 'llm_based_edit' },
  });
  expect(tokensOf(applied)).toBe(1000);

  const refused = await draft();
  expect(refused.content).toMatch(
    /^ERROR:\nIt was not edited: after the edit it would not parse any more\.\ninvalid syntax[\s\S]*\+def two\(:\n/,
  );
  expect(tokensOf(refused)).toBe(2000);

  expect((await draft()).content).toContain('the model did not write the lines out');
  expect((await draft()).content).toContain('the model could not be asked');
  expect((await draft({ start: 7, end: 9 })).content).toContain('the file has 6 lines');
  expect((await draft({ path: '/workspace/new.txt' })).content).toBe('File created successfully at: /workspace/new.txt');
});
