import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerOf, collect, createTestClock, failureOf, REQUEST } from './contract/subjects.ts';
import { createLlmProvider } from './create-llm-provider.ts';
import type { LlmRequest } from './llm-provider.ts';
import { parseScript } from './script-file.ts';
import { createScriptedProvider } from './scripted-provider.ts';

/** A request that already holds so many answers. */
function after(answers: number): LlmRequest {
  const answered = Array.from({ length: answers }, () => ({ role: 'assistant' as const, text: 'x' }));
  return { ...REQUEST, messages: [...REQUEST.messages, ...answered] };
}

describe('a script', () => {
  it('LM60: the place in the list is the number of answers in the request', async () => {
    const script = [{ text: 'a' }, { text: 'b' }, { text: 'c' }];
    const provider = createScriptedProvider(script);
    expect(answerOf(await collect(provider, after(1))).text).toBe('b');
    expect(answerOf(await collect(provider, after(1))).text).toBe('b');
    expect(answerOf(await collect(createScriptedProvider(script), after(2))).text).toBe('c');
  });

  it('LM60: a function is given the request and the place', async () => {
    const provider = createScriptedProvider((request, index) => ({ text: `${request.messages.length} messages, ${index} answers` }));
    expect(answerOf(await collect(provider, after(3))).text).toBe('5 messages, 3 answers');
  });

  it('LM61: a failure happens once, before the answer at its place', async () => {
    const provider = createScriptedProvider([
      { text: 'a' },
      { failure: 'LLM_UNAVAILABLE' },
      { failure: 'LLM_FAILED', retryable: true },
      { text: 'b' },
    ]);
    expect(answerOf(await collect(provider, after(0))).text).toBe('a');
    expect(failureOf(await collect(provider, after(1))).error.code).toBe('LLM_UNAVAILABLE');
    expect(failureOf(await collect(provider, after(1))).error.code).toBe('LLM_FAILED');
    expect(answerOf(await collect(provider, after(1))).text).toBe('b');
  });

  it('LM60: at its end it fails and says so', async () => {
    expect(failureOf(await collect(createScriptedProvider([{ text: 'a' }]), after(1)))).toMatchObject({ retryable: false });
  });
});

describe('a script file', () => {
  it('LM60: is played by its path; `times` repeats a step and `{i}` counts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tendon-script-'));
    try {
      const path = join(folder, 'script.json');
      const run = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo {i} >> counter' } }], times: 3 };
      await writeFile(path, JSON.stringify({ answers: [run, { text: 'done' }] }));
      const provider = createLlmProvider({ model: `scripted/${path}`, clock: createTestClock(), allowScripts: true });
      expect(provider).toMatchObject({ scripted: true, model: `scripted/${path}` });
      expect(answerOf(await collect(provider, after(2))).toolCalls[0]).toMatchObject({
        id: 'call_2_0',
        arguments: '{"command":"echo 3 >> counter"}',
      });
      expect(answerOf(await collect(provider, after(3))).text).toBe('done');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('EV900: holds answers for several tasks, each known by words of its user', async () => {
    const script = parseScript(
      JSON.stringify({
        tasks: [
          { task: 'Hi', answers: [{ text: 'short' }] },
          { task: 'Hi there', answers: [{ text: 'long' }, { text: 'more' }] },
        ],
      }),
    );
    const about = (text: string) => ({ ...REQUEST, messages: [{ role: 'user' as const, text }] });
    const provider = createScriptedProvider(script);
    expect(answerOf(await collect(provider, about('Say: Hi there.'))).text).toBe('long');
    expect(answerOf(await collect(provider, about('Say: Hi.'))).text).toBe('short');
    expect(failureOf(await collect(provider, about('Nothing of these'))).error.message).toContain('no such task');
    expect(() => parseScript('{"tasks":[{"answers":[]}]}')).toThrow(/names no "task"/);
  });

  it('LM62: a missing file is a failure that names it', async () => {
    const provider = createLlmProvider({ model: 'scripted//nowhere/x.json', clock: createTestClock(), allowScripts: true });
    expect(failureOf(await collect(provider)).error.message).toContain('/nowhere/x.json');
  });

  it.each(['nonsense secret', '5', '{}', '[5]', '[{}]', '[{"failure":"NOPE"}]', '[{"text":"a","times":-1}]', '[{"toolCalls":5}]'])(
    'LM62: %j is refused without quoting it',
    (json) => {
      expect(() => parseScript(json)).toThrow(/script/);
      expect(() => parseScript(json)).not.toThrow(/secret/);
    },
  );
});
