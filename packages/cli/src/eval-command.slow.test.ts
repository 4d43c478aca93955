import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { itInFull } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import type { EvalReport } from './eval/eval-figures.ts';
import { makePlace, processesWith, startTendon, tendon, type Place } from './tendon-child.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const DONE = { text: 'Done.' };
const IS_WRITTEN = 'test "$(cat answer.txt)" = 42';

type Files = Readonly<Record<string, string>>;

/** A dataset in the folder that the command is started in. */
function dataset(place: Place, tasks: Readonly<Record<string, Files>>): string {
  for (const [id, files] of Object.entries(tasks))
    for (const [name, text] of Object.entries(files)) {
      const path = join(place.workspace, 'tasks', id, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  return 'tasks';
}

const task = (more: object = {}) => JSON.stringify({ prompt: 'Write the answer.', check: IS_WRITTEN, ...more });
const solution = (...steps: object[]) => JSON.stringify(steps);
const report = (place: Place, out = 'out') => JSON.parse(readFileSync(join(place.workspace, out, 'report.json'), 'utf8')) as EvalReport;
const outcomes = (place: Place) => report(place).attempts.map(({ task: id, solved, failure }) => [id, solved ? 'solved' : failure]);

describe('tendon eval', () => {
  it('EN926: what an agent would note for later conversations does not reach another attempt', async () => {
    const place = makePlace();
    const note = { toolCalls: [{ name: 'note', arguments: { about: 'user', text: 'The answer is 42.' } }] };
    const folder = dataset(place, { notes: { 'task.json': task(), 'solution.json': solution(note, bash('echo 42 > answer.txt'), DONE) } });
    const { code } = await tendon(place, ['eval', folder, '--solutions', '-o', 'out']);
    expect(code).toBe(0);
    expect(existsSync(join(place.workspace, 'out/home/tendon.db'))).toBe(true);
    expect(existsSync(join(place.workspace, 'out/home/notes'))).toBe(false);
  });

  it('EV902: an agent works on each task, and what it did is judged where it never was', async () => {
    const place = makePlace();
    const folder = dataset(place, {
      late: {
        'task.json': task({ prompt: 'Be late.' }),
        // What still runs when the agent has finished is ended before the check.
        'solution.json': solution(
          bash('(sleep 1; while true; do echo 42 > answer.txt; done) > /dev/null 2>&1 & echo 1 > answer.txt'),
          DONE,
        ),
      },
      looks: {
        'task.json': task({ prompt: 'Look around.', check: 'bash "$CHECK/check.sh"' }),
        'check/check.sh': 'test ! -s found && test -f start && test -f prepared',
        'workspace/start': 'x',
        'setup.sh': 'touch prepared',
        'solution.json': solution(bash('find / -name check.sh -path "*check*" 2> /dev/null > found; true'), DONE),
      },
      right: { 'task.json': task({ prompt: 'Be right.', tags: ['easy'] }), 'solution.sh': 'echo 42 > answer.txt' },
    });
    const { code, stdout, stderr } = await tendon(place, ['eval', folder, '--solutions', '--atif', '-o', 'out']);
    expect(stderr).toContain('[3/3] ');
    expect(stdout).toContain('2 of 3 tasks solved');
    expect(outcomes(place)).toEqual([
      ['late', 'check'],
      ['looks', 'solved'],
      ['right', 'solved'],
    ]);
    expect(code).toBe(1);
    const last = report(place).attempts[2]!;
    expect(last).toMatchObject({ tags: ['easy'], use: { steps: 2 } });
    expect(readFileSync(join(place.workspace, 'out', last.trajectory), 'utf8')).toContain('echo 42 > answer.txt');
    expect(readFileSync(join(place.workspace, 'out', last.atif!), 'utf8')).toContain('"total_steps":');
    expect(readdirSync(join(place.workspace, 'out/home/workspaces'))).toEqual([]);
    expect(processesWith(place.workspace)).toEqual([]);
  });

  itInFull('EV902: what an agent that was asked for help has started is ended before the check', async () => {
    const place = makePlace();
    const check = 'flock --nonblock lock true';
    const lurk = '(exec 9> lock; flock 9; touch locked; exec sleep 271903) > /dev/null 2>&1 & until test -e locked; do sleep 0.1; done';
    const folder = dataset(place, {
      asks: {
        'task.json': task({ prompt: 'Ask for help.', check }),
        'solution.json': solution({ toolCalls: [{ name: 'delegate', arguments: { task: 'Lurk.' } }] }, DONE),
      },
      lurks: { 'task.json': task({ prompt: 'Lurk.', check }), 'solution.json': solution(bash(lurk), DONE) },
    });
    await tendon(place, ['eval', folder, '--solutions', '-o', 'out']);
    expect(outcomes(place)).toEqual([
      ['asks', 'solved'],
      ['lurks', 'solved'],
    ]);
    const [asks] = report(place).attempts;
    expect(readFileSync(join(place.workspace, 'out', asks!.trajectory), 'utf8')).toContain('"delegate"');
  });

  it('EV903: what the agent has put where the check comes counts for nothing', async () => {
    const place = makePlace();
    const folder = dataset(place, {
      forged: {
        'task.json': task({ prompt: 'Forge.', check: 'bash "$CHECK/check.sh"' }),
        'check/check.sh': 'exit 7',
        'solution.json': solution(bash('mkdir .tendon-check; echo "exit 0" > .tendon-check/check.sh'), DONE),
      },
      linked: {
        'task.json': task({ prompt: 'Link.', check: 'test -f "$CHECK/brought"' }),
        'check/brought': 'x',
        'solution.json': solution(bash(`ln -s ${place.home} .tendon-check`), DONE),
      },
    });
    await tendon(place, ['eval', folder, '--solutions', '-o', 'out']);
    expect(outcomes(place)).toEqual([
      ['forged', 'check'],
      ['linked', 'solved'],
    ]);
    expect(existsSync(join(place.home, 'brought'))).toBe(false);
  });

  it('EV904: names the kind of each failure, and judges what is there all the same', async () => {
    const place = makePlace();
    const write = bash('echo 42 > answer.txt');
    const stuck = bash('sleep 271901');
    const folder = dataset(place, {
      cost: {
        'task.json': task({ prompt: 'Cost.', limits: { usd: 0.5 } }),
        'solution.json': solution({ ...bash('echo {i}'), costUsd: 0.3, times: 9 }),
      },
      declined: {
        'task.json': task({ prompt: 'Decline.' }),
        'solution.json': solution({ toolCalls: [{ name: 'reject', arguments: { reason: 'no' } }] }),
      },
      late: { 'task.json': task({ prompt: 'Time.', limits: { seconds: 3 } }), 'solution.json': solution(stuck) },
      'over-but-right': {
        'task.json': task({ prompt: 'Right.', limits: { usd: 0.5 } }),
        'solution.json': solution(write, { ...stuck, costUsd: 1 }),
      },
      setup: { 'task.json': task({ prompt: 'Setup.' }), 'setup.sh': 'false', 'solution.json': solution(DONE) },
      steps: {
        'task.json': task({ prompt: 'Steps.', limits: { steps: 2 } }),
        'solution.json': solution({ ...bash('echo {i}'), times: 9 }),
      },
      vendor: { 'task.json': task({ prompt: 'Fail.' }), 'solution.json': solution({ failure: 'LLM_AUTHENTICATION' }) },
    });
    await tendon(place, ['eval', folder, '--solutions', '-o', 'out', '-j', '4']);
    expect(outcomes(place)).toEqual([
      ['cost', 'cost'],
      ['declined', 'declined'],
      ['late', 'time'],
      ['over-but-right', 'solved'],
      ['setup', 'setup'],
      ['steps', 'steps'],
      ['vendor', 'agent'],
    ]);
    expect(report(place).totals).toMatchObject({ solved: 1, failures: { cost: 1, time: 1 } });
    expect(report(place).attempts[0]!.use.usd).toBeCloseTo(0.6);
    expect(processesWith('sleep 271901')).toEqual([]);
  });

  it('EV901: refuses what does not fit before anything runs', async () => {
    const place = makePlace();
    const folder = dataset(place, { one: { 'task.json': task() } });
    const refused = async (...args: string[]) => {
      const { code, stderr } = await tendon(place, ['eval', ...args]);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await refused(folder)).toContain('Set LLM_MODEL');
    expect(await refused(folder, '--solutions')).toContain('no solution: one');
    expect(await refused(folder, '--solutions', '--only', 'two')).toContain('No task is named two');
    expect(await refused('nowhere', '--solutions')).toContain('nowhere');
    expect(await refused(folder, '--jobs', 'many')).toContain('whole number');
    writeFileSync(join(place.workspace, 'tasks/one/task.json'), '{"prompt":"x","limits":{"hours":1}}');
    expect(await refused(folder, '--solutions')).toMatch(/task\.json of one does not fit: limits/);
    expect(existsSync(join(place.workspace, 'eval-results'))).toBe(false);
  });
});

describe('an evaluation that is cut off', () => {
  const three = {
    a: { 'task.json': task({ prompt: 'First.' }), 'solution.json': solution({ ...bash('echo 42 > answer.txt'), costUsd: 0.25 }, DONE) },
    b: {
      'task.json': task({ prompt: 'Second.' }),
      'solution.json': solution({ ...bash('sleep 271902'), costUsd: 0.25 }, bash('echo 42 > answer.txt'), DONE),
    },
  };
  const again = { 'solution.json': solution({ ...bash('echo 42 > answer.txt'), costUsd: 0.25 }, DONE) };
  const args = ['eval', 'tasks', '--solutions', '-o', 'out', '-j', '1'];

  /** Ended by the signal while the second task is worked on. */
  async function cutOff(signal: 'SIGKILL' | 'SIGINT') {
    const place = makePlace();
    dataset(place, three);
    const child = startTendon(place, args);
    await child.until('[1/2] a: solved');
    await expect.poll(() => processesWith('sleep 271902'), { timeout: 60_000 }).not.toEqual([]);
    child.signal(signal);
    return { place, ended: await child.ended };
  }

  async function goesOn(place: Place): Promise<void> {
    dataset(place, { b: again });
    const { code, stderr } = await tendon(place, args);
    expect(stderr).toContain('1 of 2 attempts are finished already');
    expect(stderr).not.toContain('a: solved');
    expect(code).toBe(0);
    // The attempt that was cut off has cost something too.
    expect(report(place).totals).toMatchObject({ tasksSolved: 2, attempts: 2, left: 0, usd: 0.75 });
    expect(processesWith('sleep 271902')).toEqual([]);
  }

  it('EV905: the same command goes on after a kill', async () => {
    const { place, ended } = await cutOff('SIGKILL');
    expect(ended).toBe('SIGKILL');
    await goesOn(place);
  });

  it('EV906: Ctrl-C ends what runs, and the same command goes on', async () => {
    const { place, ended } = await cutOff('SIGINT');
    expect(ended).toBe(130);
    expect(processesWith('sleep 271902')).toEqual([]);
    expect(report(place).totals).toMatchObject({ attempts: 1, left: 1 });
    await goesOn(place);
  });

  itInFull('EV905: makes a changed task again, and what --again names', async () => {
    const place = makePlace();
    const folder = dataset(place, { a: three.a, wrong: { 'task.json': task({ prompt: 'Wrong.' }), 'solution.sh': 'echo 1 > answer.txt' } });
    const run = async (...more: string[]) => (await tendon(place, ['eval', folder, '--solutions', '-o', 'out', ...more])).stderr;
    await run();
    const failed = await run('--again', 'failed');
    expect(failed).toContain('wrong: failed (check)');
    expect(failed).not.toContain('a: solved');
    dataset(place, { a: { 'task.json': task({ prompt: 'First, changed.' }) } });
    expect(await run()).toContain('a: solved');
    expect(await run('--repeat', '2', '--only', 'a')).toContain('a #2: solved');
    expect(report(place).totals).toMatchObject({ tasks: 1, attempts: 2, passAt: { 1: 1, 2: 1 } });
  });

  it('EV907 EV908: begins nothing when the budget is used up', async () => {
    const place = makePlace();
    dataset(place, { ...three, b: { ...three.b, ...again }, c: { 'task.json': task({ prompt: 'Third.' }), ...again } });
    const first = await tendon(place, [...args, '--budget', '0.4']);
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('The budget of $0.40 is used up; 2 attempts are left');
    const second = await tendon(place, [...args, '--budget', '5', '--json']);
    expect(second.code).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject({ totals: { tasksSolved: 3, left: 0, usd: 1 } });
  });
});

describe('a dataset in the shape of SWE-bench', () => {
  /** A repository with a fault in its first commit, and the fix in its second. */
  function repository(place: Place) {
    const folder = join(place.workspace, 'mirrors/owner/tool');
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=Dev', '-c', 'user.email=dev@example.org', '-C', folder, ...args], { encoding: 'utf8' }).trim();
    mkdirSync(folder, { recursive: true });
    git('init', '-q', '-b', 'main');
    write('tool.py', 'def double(n):\n    return n + n + 1\n');
    write('test_tool.py', 'from tool import double\n\n\ndef test_zero():\n    pass\n');
    git('add', '.');
    git('commit', '-qm', 'Begin');
    const base = git('rev-parse', 'HEAD');
    write('tool.py', 'def double(n):\n    return n + n\n');
    git('commit', '-qam', 'The secret fix');
    const patch = git('diff', base, '--', 'tool.py');
    write('test_tool.py', 'from tool import double\n\n\ndef test_zero():\n    assert double(0) == 0\n');
    const testPatch = git('diff', '--', 'test_tool.py');
    git('reset', '-q', '--hard');
    return { base, patch: `${patch}\n`, testPatch: `${testPatch}\n` };
  }

  /** Another test fails in any case. */
  const RUN_TESTS = `python3 -c "import sys, test_tool; [getattr(test_tool, name)() or print('--- PASS: ' + name + ' (0s)') for name in sys.argv[1:]]; sys.exit(1)" {tests}`;

  it('EV912, EV931: is solved by the patch of its repository, and judged by its own tests', async () => {
    const place = makePlace();
    const { base, patch, testPatch } = repository(place);
    const instance = (id: string, of: string) => ({
      instance_id: id,
      repo: 'owner/tool',
      base_commit: base,
      problem_statement: `${id}: doubling is wrong.`,
      patch: of,
      test_patch: testPatch,
      FAIL_TO_PASS: '["test_zero"]',
      PASS_TO_PASS: [],
    });
    const cheat = patch.replace('return n + n\n', 'return n + n + 2\n');
    const lines = [instance('owner__tool-1', patch), instance('owner__tool-2', cheat)].map((one) => JSON.stringify(one));
    writeFileSync(join(place.workspace, 'set.jsonl'), `${lines.join('\n')}\n`);
    const args = ['eval', 'set.jsonl', '--solutions', '-o', 'out'];
    expect((await tendon(place, args)).stderr).toContain('--mirrors');
    expect((await tendon(place, [...args, '--mirrors', 'mirrors'])).stderr).toContain('--test-command');
    const asked = [...args, '--mirrors', 'mirrors', '--test-command', RUN_TESTS, '--save-workspaces'];
    const { code, stderr } = await tendon(place, asked);
    expect(code, stderr).toBe(1);
    expect(outcomes(place)).toEqual([
      ['owner__tool-1', 'solved'],
      ['owner__tool-2', 'check'],
    ]);
    expect(report(place).attempts[0]).toMatchObject({
      tests: { failToPass: { passed: 1, total: 1 }, passToPass: { passed: 0, total: 0 } },
    });
    expect(readFileSync(join(place.workspace, 'out/patches/owner__tool-1.1.patch'), 'utf8')).toContain('+    return n + n\n');
    const workspaces = join(place.workspace, 'out/home/workspaces');
    const history = (name: string) =>
      execFileSync('git', ['-C', join(workspaces, name), 'log', '--all', '--format=%s'], { encoding: 'utf8' });
    expect(readdirSync(workspaces).map(history)).toEqual(['Begin\n', 'Begin\n']);
    const predictions = readFileSync(join(place.workspace, 'out/predictions.jsonl'), 'utf8').trimEnd().split('\n');
    expect(predictions.map((line) => JSON.parse(line) as object)).toEqual([
      { instance_id: 'owner__tool-1', model_name_or_path: 'solutions', model_patch: expect.stringContaining('return n + n') },
      { instance_id: 'owner__tool-2', model_name_or_path: 'solutions', model_patch: expect.stringContaining('n + 2') },
    ]);
  });
});
