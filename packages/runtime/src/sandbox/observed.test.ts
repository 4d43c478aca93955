import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { observed } from './observed.ts';

describe('observations of the executor', () => {
  it('SB30: keep their kind, content, extras and success, and nothing that is the engine’s to give', () => {
    const answer = {
      observation: 'run',
      content: 'x',
      extras: { command: 'ls', metadata: { exit_code: 0 } },
      success: true,
      cause: 7,
      id: 3,
      source: 'user',
      tool_call_metadata: {},
      llm_metrics: {},
      executor: 'other',
    };
    const draft = observed('run', answer);
    expect(Object.keys(draft).toSorted()).toEqual(['content', 'extras', 'observation', 'success']);
    expect(draft.extras).toMatchObject({ command: 'ls', metadata: { exit_code: 0 } });
  });

  it.each([
    ['another kind', { observation: 'agent_state_changed', content: '', extras: { agent_state: 'finished' } }],
    ['a kind for another action', { observation: 'browse', content: '', extras: { url: 'x' } }],
    ['no text', { observation: 'run', content: 7, extras: { command: '' } }],
    ['wrong extras', { observation: 'run', content: '', extras: { command: 7 } }],
    ['an inherited kind', { observation: 'constructor', content: '', extras: {} }],
    ['nothing', null],
  ])('SB30: %s becomes an error that says so', (_what, answer) => {
    expect(observed('run', answer)).toMatchObject({ observation: 'error', extras: { error_id: 'SANDBOX$INVALID_ANSWER' } });
  });

  it('SB30: is total', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('run', 'error', 'read', 'x'), (value, observation) => {
        for (const answer of [value, { observation, content: 'c', extras: value }]) {
          expect(['run', 'error']).toContain(observed('run', answer).observation);
        }
      }),
    );
  });
});
