import { expect, it } from 'vitest';
import type { LlmAnswer } from '../llm/llm-provider.ts';
import { draftRequest, linesOfAnswer } from './drafted-edit.ts';

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const answer = (text: string, more: Partial<LlmAnswer> = {}): LlmAnswer => ({
  ...{ id: 'a', model: 'm', text, toolCalls: [], finishReason: 'stop', usage, costUsd: 0, latencyMs: 1 },
  ...more,
});

it.each([
  ['```python\nx = 1\n```', 'x = 1\n'],
  ['Here it is:\n```\na\n\nb\n```\nDone.', 'a\n\nb\n'],
  ['```md\n# t\n```sh\nls\n```\n```', '# t\n```sh\nls\n```\n'],
  ['```\r\na\r\n```', 'a\n'],
  ['```\n```', ''],
  ['x = 1', undefined],
  ['```\nx = 1', undefined],
])('RT190, RT194: the lines of %j are %j', (text, lines) => {
  expect(linesOfAnswer(answer(text))).toBe(lines);
});

it('RT194: an answer that was cut off, or calls a tool, has no lines', () => {
  expect(linesOfAnswer(answer('```\na\n```', { finishReason: 'length' }))).toBeUndefined();
  expect(linesOfAnswer(answer('```\na\n```', { toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] }))).toBeUndefined();
});

it('RT190: fences are longer than those of the file', () => {
  const lines = { state: 'lines', text: '````\ncode\n````\n', first: 3, last: 5, version: '' } as const;
  const [, question] = draftRequest({ path: '/workspace/a.md', draft: 'x', lines }).messages;
  expect(question!.text).toBe(
    'Lines 3 to 5 of /workspace/a.md:\n`````\n````\ncode\n````\n`````\n\nThe draft of what they shall become:\n`````\nx\n`````',
  );
});
