import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

function fallbackOf(env: Readonly<Record<string, string>>): unknown {
  const read = readConfig(env);
  if (!read.ok) throw new Error(read.problems.join());
  const { llmFallback } = read.config;
  return llmFallback && [llmFallback.model, llmFallback.apiKey?.reveal(), llmFallback.baseUrl];
}

const own = { LLM_API_KEY: 'key-of-main' };

it.each([
  ['nothing is named', { ...own }, undefined],
  [
    'at the same address',
    { ...own, LLM_BASE_URL: 'https://a.example', LLM_FALLBACK_MODEL: 'x/y' },
    ['x/y', 'key-of-main', 'https://a.example'],
  ],
  [
    'of the same vendor',
    { ...own, LLM_MODEL: 'gpt-4o', LLM_FALLBACK_MODEL: 'openai/gpt-4o-mini' },
    ['openai/gpt-4o-mini', 'key-of-main', undefined],
  ],
  [
    'of another vendor',
    { ...own, LLM_MODEL: 'gpt-4o', LLM_FALLBACK_MODEL: 'anthropic/claude' },
    ['anthropic/claude', undefined, undefined],
  ],
  [
    'with a key of its own',
    { ...own, LLM_BASE_URL: 'https://a.example', LLM_FALLBACK_MODEL: 'anthropic/claude', LLM_FALLBACK_API_KEY: 'other' },
    ['anthropic/claude', 'other', undefined],
  ],
  [
    'at another address',
    { ...own, LLM_FALLBACK_MODEL: 'x/y', LLM_FALLBACK_BASE_URL: 'https://b.example' },
    ['x/y', undefined, 'https://b.example'],
  ],
])('LM731: the fallback model: %s', (_name, env, reference) => {
  expect(fallbackOf(env)).toEqual(reference);
});
