import { expect, it } from 'vitest';
import { detectGeneration, type WsEntry } from './detect-generation.ts';

const FOUR = { LLM_MODEL: 'gpt-4', AGENT: 'MonologueAgent', LANGUAGE: 'en', LLM_API_KEY: '' };

it.each<[WsEntry, string, object, string | undefined]>([
  ['plain', 'initialize', {}, 'opendevin-2024-03'],
  ['plain', 'initialize', { model: 'gpt-4', directory: 'x', agent_cls: 'y' }, 'opendevin-2024-03'],
  ['plain', 'start', { task: 'x' }, 'opendevin-2024-03'],
  ['plain', 'chat', {}, 'opendevin-2024-03'],
  ['plain', 'initialize', FOUR, 'opendevin-2024-06'],
  ['plain', 'initialize', { ...FOUR, CONFIRMATION_MODE: false }, 'opendevin-2024-07'],
  ['plain', 'message', { content: 'x' }, 'opendevin-2024-07'],
  ['plain', 'run', { command: 'ls' }, undefined],
  ['auth', 'initialize', { ...FOUR, MAX_ITERATIONS: '100' }, 'opendevin-2024-04'],
  ['auth', 'initialize', FOUR, undefined],
  ['auth', 'start', { task: 'x' }, 'opendevin-2024-05'],
  ['auth', 'user_message', { message: 'x' }, 'opendevin-2024-05'],
  ['auth', 'change_task_state', { task_state_action: 'pause' }, 'opendevin-2024-05'],
  ['auth', 'message', { content: 'x' }, 'opendevin-2024-06'],
  ['auth', 'change_agent_state', { agent_state: 'paused' }, 'opendevin-2024-06'],
  ['resumed', 'initialize', FOUR, 'opendevin-2024-06'],
  ['resumed', 'initialize', { ...FOUR, SECURITY_ANALYZER: '' }, 'opendevin-2024-07'],
  ['resumed', 'start', { task: 'x' }, undefined],
  ['protocol', 'anything', {}, 'opendevin-2024-11'],
])('DL80: by %s with %s', (entry, action, args, generation) => {
  expect(detectGeneration(entry, { action, args })).toBe(generation);
});

it('DL80: what is no frame shows no generation', () => {
  for (const value of [null, 1, 'x', [], {}, { action: 1 }, { action: 'initialize' }, { action: 'initialize', args: null }]) {
    expect(detectGeneration('auth', value)).toBeUndefined();
  }
});
