import { type Event, fromJson } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { lastCheck, isCheck, provesPass } from './last-check.ts';
import { turnSpans } from './turn-spans.ts';

type Row = readonly [source: 'user' | 'agent', kind: string, more?: object];

const log = (...rows: readonly Row[]): readonly Event[] =>
  rows.map(([source, kind, more = {}], id) => {
    const event = { id, timestamp: '2026-01-01T00:00:00Z', source, content: '', ...more };
    return fromJson(kind.startsWith('=') ? { ...event, observation: kind.slice(1) } : { ...event, action: kind });
  });
const say = (text: string): Row => ['user', 'message', { args: { content: text } }];
const state = (agent_state: string): Row => ['agent', '=agent_state_changed', { extras: { agent_state } }];
const run = (command: string): Row => ['agent', 'run', { args: { command } }];
const ran = (cause: number, exit_code: number): Row => ['agent', '=run', { cause, extras: { command: 'x', metadata: { exit_code } } }];
const edited: Row = ['agent', '=edit', { extras: { path: 'a.ts' } }];

it('CL954: a receipt stands where the agent came to rest after steps, and a message in between does not end the turn', () => {
  const events = log(
    ...[state('awaiting_user_input'), say('one'), state('running'), run('ls'), ran(3, 0), say('faster'), state('finished')],
    ...[say('a question'), state('running'), state('awaiting_user_input')],
    ...[say('two'), state('running'), run('ls'), state('paused'), state('running'), ran(12, 0), state('stopped')],
  );
  expect(turnSpans(events)).toEqual([
    { start: 1, end: 6, next: 7 },
    { start: 10, end: 16, next: undefined },
  ]);
  expect(turnSpans(events.slice(0, 4))).toEqual([]);
});

it('CL954: a turn whose files are restored ends there: it is not compared with what they are since', () => {
  const restore = (more: object): Row => ['user', 'restore_checkpoint', { args: { checkpoint: 1, ...more } }];
  const turn = [say('one'), state('running'), run('ls'), ran(2, 0), state('finished')] as const;
  const next = (...rows: readonly Row[]) => turnSpans(log(...turn, ...rows)).map((span) => span.next);
  expect(next(restore({ what: 'conversation' }), restore({ what: 'files', paths: ['a.ts'] }))).toEqual([undefined]);
  expect(next(restore({ what: 'both' }), say('two'))).toEqual([5]);
});

it('CL954: the last command that checks something counts, with its exit code, and whether files were edited after it', () => {
  expect(lastCheck(log(run('ls'), ran(0, 0)))).toBeUndefined();
  expect(lastCheck(log(run('npm test'), ran(0, 1), edited, run('cd app && npm run lint -- --fix'), ran(3, 0)))).toEqual({
    command: 'cd app && npm run lint -- --fix',
    id: 4,
    exitCode: 0,
    isUnproven: false,
    isOutdated: false,
  });
  expect(lastCheck(log(run('pytest -q'), ran(0, 0), edited))).toMatchObject({ exitCode: 0, isOutdated: true });
  expect(lastCheck(log(run('npm test'), ran(0, -1)))).toMatchObject({ exitCode: undefined });
});

it('CL954: what tests, lints, checks or builds is known by its words', () => {
  const checks = [
    ...['npm test', 'npm run -s build', 'pnpm --filter web test', 'npx vitest run a.test.ts', 'CI=1 yarn lint', 'timeout 60 pytest tests/'],
    ...[
      'python3 -m pytest',
      'cargo test',
      'go vet ./...',
      'cd x && make check',
      'node --test',
      './node_modules/.bin/tsc -p .',
      './gradlew test',
    ],
    ...['bash scripts/test.sh', 'npm i; npm test', 'uv run ruff check .', 'npm run test:unit'],
  ];
  for (const command of checks) expect([command, isCheck(command)]).toEqual([command, true]);
  for (const command of [
    'ls',
    'cat test.txt',
    'git commit -m "npm test"',
    'echo done',
    'mkdir build',
    'npm install',
    'grep -r vitest .',
    'vim tsconfig.json',
  ])
    expect([command, isCheck(command)]).toEqual([command, false]);
});

it('CL954: a hostile command costs no more than its length', () => {
  for (const text of ['a/', '-a b ', 'A= ', ';', 'npm run ', 'npm -a ', '(', 'sudo ']) isCheck(`${text.repeat(1000)}!`);
  expect(isCheck(`${'a/'.repeat(400)}x`)).toBe(false);
});

it('SV1001: an exit code that may be another command’s proves no check', () => {
  const proving = [
    'npm test',
    'cd app && npm test',
    'npm i; npm test 2>&1',
    'npm test > out.txt 2>&1 && echo ok',
    'npx vitest run a.test.ts;',
  ];
  for (const command of [...proving, 'set -o pipefail; pytest -q | tail -5', 'npm run lint && npm test'])
    expect([command, provesPass(command)]).toEqual([command, true]);
  for (const command of [
    ...['npm test | tail -20', 'npm test 2>&1 | tee log', 'npm test || true', 'npm test; echo done', 'npm test\necho done', 'npm test &'],
    ...[
      'cat > run.sh <<EOF\nnpm test\nEOF',
      'echo "a\nb; npm test"; ls',
      'true || npm test',
      'echo "a; npm test"',
      "echo 'a\nnpm test'",
      'if npm test; then echo ok; fi',
      'echo $(npm test)',
    ],
  ])
    expect([command, provesPass(command)]).toEqual([command, false]);
  expect(lastCheck(log(run('npm test | tail'), ran(0, 0)))).toMatchObject({ exitCode: 0, isUnproven: true });
  expect(lastCheck(log(run('npm test | tail'), ran(0, 1)))).toMatchObject({ exitCode: 1, isUnproven: false });
});

it('SV1001: looking for a proof in a hostile command costs no more than its length', () => {
  for (const text of ['npm test;', 'npm test | ', 'set -o ', '2>&1 ', '>&', '&&', 'npm test &&'])
    provesPass(`npm test ${text.repeat(100)}!|`.slice(0, 1000));
  expect(provesPass(`npm test ${'a '.repeat(400)}|`)).toBe(false);
});
