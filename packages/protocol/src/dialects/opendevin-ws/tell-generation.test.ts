import { expect, it } from 'vitest';
import { tellGeneration, type WsDoor } from './tell-generation.ts';

const FOUR = { LLM_MODEL: 'gpt-4', AGENT: 'MonologueAgent', LANGUAGE: 'en', LLM_API_KEY: '' };

it.each<[WsDoor, string, object, string | undefined]>([
  ['plain', 'initialize', {}, 'W0'],
  ['plain', 'initialize', { model: 'gpt-4', directory: 'x', agent_cls: 'y' }, 'W0'],
  ['plain', 'start', { task: 'x' }, 'W0'],
  ['plain', 'chat', {}, 'W0'],
  ['plain', 'initialize', FOUR, 'W3'],
  ['plain', 'initialize', { ...FOUR, CONFIRMATION_MODE: false }, 'W4'],
  ['plain', 'message', { content: 'x' }, 'W4'],
  ['plain', 'run', { command: 'ls' }, undefined],
  ['auth', 'initialize', { ...FOUR, MAX_ITERATIONS: '100' }, 'W1'],
  ['auth', 'initialize', FOUR, undefined],
  ['auth', 'start', { task: 'x' }, 'W2'],
  ['auth', 'user_message', { message: 'x' }, 'W2'],
  ['auth', 'change_task_state', { task_state_action: 'pause' }, 'W2'],
  ['auth', 'message', { content: 'x' }, 'W3'],
  ['auth', 'change_agent_state', { agent_state: 'paused' }, 'W3'],
  ['resumed', 'initialize', FOUR, 'W3'],
  ['resumed', 'initialize', { ...FOUR, SECURITY_ANALYZER: '' }, 'W4'],
  ['resumed', 'start', { task: 'x' }, undefined],
  ['protocol', 'anything', {}, 'W5'],
])('DL80: by %s with %s', (door, action, args, generation) => {
  expect(tellGeneration(door, { action, args })).toBe(generation);
});

it('DL80: what is no frame tells nothing', () => {
  for (const value of [null, 1, 'x', [], {}, { action: 1 }, { action: 'initialize' }, { action: 'initialize', args: null }]) {
    expect(tellGeneration('auth', value)).toBeUndefined();
  }
});
