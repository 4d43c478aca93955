import { RunAction, RunObservation, ThinkAction, ThinkObservation, type Action, type Observation } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { isStuck, NO_REPETITION, repeat, type Repetition } from './repetition.ts';

const META = { id: 0, timestamp: '2026-11-21T10:00:00.000Z', source: 'agent' } as const;

function after(steps: readonly (readonly [Action, Observation])[]): Repetition {
  return steps.reduce((last, [action, observation]) => repeat(last, action, observation), NO_REPETITION);
}

const think = (thought: string) =>
  [
    { ...META, ...ThinkAction.create({ thought }) },
    { ...META, ...ThinkObservation.create('', {}) },
  ] as const;
const run = (command: string, exit_code: number, thought = '') =>
  [
    { ...META, ...RunAction.create({ command, thought }) },
    { ...META, ...RunObservation.create('', { command, metadata: { exit_code } }) },
  ] as const;

describe('EN91: repetition', () => {
  it('takes different thoughts for different steps', () => {
    expect(isStuck(after(Array.from({ length: 30 }, (_, n) => think(`thought ${n}`))))).toBe(false);
    expect(isStuck(after(Array.from({ length: 4 }, () => think('the same'))))).toBe(true);
  });

  it('takes the same failing command for the same step, whatever text is beside it', () => {
    expect(isStuck(after(Array.from({ length: 4 }, (_, n) => run('make', 2, `try ${n}`))))).toBe(true);
    expect(isStuck(after(Array.from({ length: 4 }, (_, n) => run(`make ${n}`, 2))))).toBe(false);
  });

  it('lets a command that may have changed something be repeated', () => {
    expect(isStuck(after(Array.from({ length: 49 }, () => run('echo x >> log', 0))))).toBe(false);
  });
});
