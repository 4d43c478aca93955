import {
  ErrorObservation,
  ReadAction,
  RunAction,
  RunObservation,
  ThinkAction,
  ThinkObservation,
  type Action,
  type Observation,
} from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { circleOf, NO_REPETITION, repeat, type Circle } from './repetition.ts';

const META = { id: 0, timestamp: '2026-11-21T10:00:00.000Z', source: 'agent' } as const;

type Step = readonly [Action, Observation];

function after(steps: readonly Step[]): Circle | undefined {
  const numbered = steps.map(([action, observation], n) => [{ ...action, id: n * 2 }, observation] as const);
  return circleOf(numbered.reduce((last, [action, observation]) => repeat(last, action, observation), NO_REPETITION));
}

const isStuck = (steps: readonly Step[]): boolean => after(steps)?.isHopeless ?? false;
const times = (count: number, step: (n: number) => Step): Step[] => Array.from({ length: count }, (_, n) => step(n));

const think = (thought: string): Step => [
  { ...META, ...ThinkAction.create({ thought }) },
  { ...META, ...ThinkObservation.create('', {}) },
];
const run = (command: string, exit_code: number, { thought = '', output = '' } = {}): Step => [
  { ...META, ...RunAction.create({ command, thought }) },
  { ...META, ...RunObservation.create(output, { command, metadata: { exit_code } }) },
];
const readFails = (path: string, words: string): Step => [
  { ...META, ...ReadAction.create({ path }) },
  { ...META, ...ErrorObservation.create(words, { error_id: '' }) },
];

describe('EN91: repetition', () => {
  it('takes different thoughts for different steps', () => {
    expect(isStuck(times(30, (n) => think(`thought ${n}`)))).toBe(false);
    expect(isStuck(times(4, () => think('the same')))).toBe(true);
  });

  it('takes the same failing command for the same step, whatever text is beside it', () => {
    expect(isStuck(times(4, (n) => run('make', 2, { thought: `try ${n}` })))).toBe(true);
    expect(isStuck(times(4, (n) => run(`make ${n}`, 2)))).toBe(false);
  });

  it('lets a command that may have changed something be repeated', () => {
    expect(isStuck(times(49, () => run('echo x >> log', 0)))).toBe(false);
  });
});

describe('EN857: other circles', () => {
  it('two fruitless steps in turn are a circle, from the first of them; with a change between them they are work', () => {
    const alternating = (count: number): Step[] => times(count, (n) => run(n % 2 ? 'make test' : 'make', 2));
    expect(after(alternating(5))).toBeUndefined();
    expect(after([run('ls', 0), ...alternating(6)])).toMatchObject({ isHopeless: false, from: 2 });
    expect(isStuck(alternating(8))).toBe(true);
    const mended = times(30, (n) => (n % 2 ? run('npm test', 1) : run('sed -i s/a/b/ x', 0)));
    expect(after(mended)).toBeUndefined();
  });

  it('the same error is a circle whatever the arguments, and another error is not', () => {
    const lost = (n: number): Step => readFails(`/src/file-${n}.ts`, `No file or folder /src/file-${n}.ts in this workspace.`);
    expect(after(times(6, lost))).toMatchObject({ isHopeless: false, from: 0 });
    expect(isStuck(times(10, lost))).toBe(true);
    const causes = ['not found in the file', 'is a folder, not a file', 'may not be read by this user'];
    expect(after(times(30, (n) => readFails(`/src/${n}`, causes[n % 3]!)))).toBeUndefined();
    expect(after(times(30, (n) => run(`grep -q word${n} notes`, 1)))).toBeUndefined();
  });

  it('thoughts without a step are a circle', () => {
    expect(after(times(11, (n) => think(`thought ${n}`)))).toBeUndefined();
    expect(after(times(12, (n) => think(`thought ${n}`)))).toMatchObject({ isHopeless: false });
    expect(isStuck(times(40, (n) => think(`thought ${n}`)))).toBe(true);
    expect(after(times(60, (n) => (n % 2 ? think(`thought ${n}`) : run(`echo ${n}`, 0))))).toBeUndefined();
  });
});
