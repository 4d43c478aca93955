import { expect, it } from 'vitest';
import { localServers, modelForKey } from './models.ts';

it('model servers of this machine are read off the names that are offered', () => {
  expect(localServers(['anthropic/claude', 'gpt-4o', 'ollama/qwen3:30b', 'ollama/llama3'])).toEqual([
    { name: 'Ollama', address: '127.0.0.1:11434', models: ['ollama/qwen3:30b', 'ollama/llama3'] },
  ]);
  expect(localServers(['gpt-4o'])).toEqual([]);
});

it('a key names its provider; any other means gpt-4o', () => {
  expect([modelForKey('sk-ant-xyz'), modelForKey('AIzaX'), modelForKey('whatever')]).toEqual([
    'anthropic/claude-sonnet-4-20250514',
    'gemini/gemini-2.5-pro',
    'gpt-4o',
  ]);
});
