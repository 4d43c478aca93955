import { describe, expect, it } from 'vitest';
import { ALLOWED, ASKED, DENIED, FOLDER, NOTHING, RULES } from './commands.test-support.ts';
import { judgeCommand } from './judge-command.ts';

const decide = (command: string): string => judgeCommand(command, RULES, FOLDER).decision;

describe('TR700: a command line is allowed only when every program, file and host in it is', () => {
  it('TR700: the corpus holds at least 300 lines', () => {
    expect(new Set([...ALLOWED, ...DENIED, ...ASKED]).size).toBeGreaterThanOrEqual(300);
  });
  it('TR700: no line of the corpus is allowed that is not meant to be', () => {
    expect([...DENIED, ...ASKED].filter((command) => decide(command) === 'allow')).toEqual([]);
  });
  it('TR700: lines whose parts are all allowed run', () => {
    expect(ALLOWED.filter((command) => decide(command) !== 'allow').map((c) => [c, judgeCommand(c, RULES, FOLDER).reason])).toEqual([]);
  });
  it('TR701: what a rule denies is denied however it is written', () => {
    expect(DENIED.filter((command) => decide(command) !== 'deny').map((c) => [c, judgeCommand(c, RULES, FOLDER).reason])).toEqual([]);
  });
  it('TR700: a line of which no rule allows a part asks, also when it does nothing', () => {
    expect(NOTHING.map(decide)).toEqual(NOTHING.map(() => 'open'));
  });
  it('TR703: what is too long to be judged asks, however it is nested', () => {
    const long = [
      'env '.repeat(16_000) + 'ls',
      'find ' + '-exec find '.repeat(5000),
      'ls ' + 'a/b '.repeat(15_000),
      "env -S '" + 'env '.repeat(16_000) + "'",
    ];
    expect(long.map(decide)).toEqual(long.map(() => 'ask'));
    const rules = Array.from({ length: 500 }, (_, index) => ({ decision: 'deny', path: `/${index}` }) as const);
    expect(judgeCommand(`cd a; cd b; cd c; ls ${'x/y '.repeat(4000)}`, rules, FOLDER)).toMatchObject({ decision: 'ask', isDoubt: true });
  });
  it('TR702: what cannot be judged asks, and is not denied', () => {
    expect(ASKED.filter((command) => decide(command) === 'deny')).toEqual([]);
  });
});
