import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { itInFull, someOf } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { makePlace, processesWith, startTendon, tendon } from './tendon-child.test-support.ts';

interface JsonEvent {
  readonly id: number;
  readonly action?: string;
  readonly observation?: string;
}

const lines = (stdout: string): JsonEvent[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonEvent);
const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

describe('tendon run', () => {
  itInFull('does the founding example in the folder it is started in', async () => {
    const place = makePlace();
    const { code, stdout, stderr } = await tendon(place, ['run', 'write a bash script that prints hello']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readFileSync(join(place.workspace, 'hello.sh'), 'utf8')).toContain('hello');
    for (const words of ['demo model', 'Wrote hello.sh', '\n  hello\n', 'scripted demonstration']) expect(stdout).toContain(words);
  });

  itInFull('CL931: prints every event as a line of JSON, and nothing else; with --worktree the folder stays as it is', async () => {
    const place = makePlace();
    const before = readdirSync(place.workspace);
    const { code, stdout, stderr } = await tendon(place, ['run', '--worktree', '--json', 'write', 'fizzbuzz', 'in', 'bash']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readdirSync(place.workspace)).toEqual(before);
    const events = lines(stdout);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index));
    const kinds = events.map(({ action, observation }) => action ?? observation);
    expect(kinds).toEqual(expect.arrayContaining(['system', 'message', 'edit', 'run', 'finish', 'agent_state_changed']));
  });

  it('reads the task from standard input, and takes an answer in words for done', async () => {
    const place = makePlace();
    const { code, stdout } = await tendon(place, ['run', '-', '-m', place.script([{ text: 'Nothing to do.' }])], {
      input: 'Is there anything to do?\n',
    });
    expect(code).toBe(0);
    expect(stdout).toContain('Nothing to do.');
  });

  it.each(
    someOf(
      [
        [
          'the agent says that it failed',
          [{ toolCalls: [{ name: 'finish', arguments: { message: 'I could not.', task_completed: 'false' } }] }],
          'I could not.',
        ],
        ['the model cannot be had', [{ failure: 'LLM_AUTHENTICATION' }], 'refused the key'],
        ['the script is over', [], 'the script'],
      ] as const,
      1,
    ),
  )('exits with 1 when %s', async (_case, steps, words) => {
    const place = makePlace();
    const { code, stdout } = await tendon(place, ['run', '-m', place.script(steps), 'x']);
    expect(code).toBe(1);
    expect(stdout).toContain(words);
  });

  it('EV920: writes the run as ATIF, also when it failed', async () => {
    const place = makePlace();
    const model = place.script([bash('echo 42'), { failure: 'LLM_AUTHENTICATION' }]);
    const { code } = await tendon(place, ['run', '--atif', 'run.json', '-m', model, 'print it']);
    expect(code).toBe(1);
    const { steps } = JSON.parse(readFileSync(join(place.workspace, 'run.json'), 'utf8')) as { steps: { observation?: unknown }[] };
    expect(steps.find(({ observation }) => observation)).toMatchObject({
      source: 'agent',
      tool_calls: [{ function_name: 'execute_bash', arguments: { command: 'echo 42' } }],
      observation: { results: [{ source_call_id: expect.any(String), content: expect.stringContaining('42') }] },
    });
  });

  it('SV455: says which variable lets a sandbox reach a host that it was refused, once', async () => {
    const place = makePlace();
    const ask = bash('for time in 1 2 3; do curl -sS -m 30 http://asked.example/; done');
    const model = place.script([ask, { text: 'Refused.' }]);
    const { code, stdout } = await tendon(place, ['run', '-m', model, 'x'], { env: { RUNTIME: 'local', SANDBOX_NETWORK: 'allowlist' } });
    expect(code).toBe(0);
    expect(stdout.match(/wants to reach asked\.example:80.*add asked\.example to SANDBOX_NETWORK_ALLOW /g)).toHaveLength(1);
    expect(stdout).toContain('a person is asked');
  });

  itInFull('does not give the agent a home folder by default', async () => {
    const place = makePlace();
    const { code, stderr } = await tendon(place, ['run', 'create a file called here.txt'], { cwd: join(place.home, '..') });
    expect(code).toBe(0);
    expect(stderr).toContain('a fresh folder');
    expect(existsSync(join(place.home, '../here.txt'))).toBe(false);
  });

  itInFull('runs beside another one, each with a log of its own', async () => {
    const place = makePlace();
    const first = startTendon(place, ['run', '--json', '-m', place.script([bash('sleep 271811')]), 'x']);
    await first.until('"action":"run"');
    const second = await tendon(place, ['run', 'what time is it?']);
    expect(second.code).toBe(0);
    expect(second.stderr).toContain('Another Tendon is using');
    expect(readdirSync(join(place.home, '.tendon/runs'))).toHaveLength(1);
    first.signal('SIGINT');
    expect(await first.ended).toBe(130);
  });
});

describe('interrupting a run', () => {
  it.each(someOf(['SIGINT', 'SIGTERM'] as const, 1))('%s stops the agent and leaves no process behind', async (signal) => {
    const place = makePlace();
    const child = startTendon(place, ['run', '--json', '-m', place.script([bash('sleep 271812')]), 'x']);
    await child.until('"action":"run"');
    child.signal(signal);
    expect(await child.ended).toBe(130);
    expect(child.stdout).toContain('"agent_state":"stopped"');
    expect(processesWith('sleep 271812')).toEqual([]);
    expect(processesWith(place.home)).toEqual([]);
  });

  it('while the model is silent ends at once', async () => {
    const place = makePlace();
    const child = startTendon(place, ['run', '--json', '-m', place.script([{ text: 'late', delayMs: 3_600_000 }]), 'x']);
    await child.until('"agent_state":"running"');
    child.signal('SIGINT');
    expect(await child.ended).toBe(130);
  });

  itInFull('twice does not wait, and leaves no process behind', async () => {
    const place = makePlace();
    const stubborn = `trap '' INT TERM; sleep 271813; sleep 271813`;
    const child = startTendon(place, ['run', '--json', '-m', place.script([bash(stubborn)]), 'x']);
    await child.until('"action":"run"');
    child.signal('SIGINT');
    await child.until('Stopping');
    child.signal('SIGINT');
    expect(await child.ended).toBe(130);
    expect(processesWith('sleep 271813')).toEqual([]);
  });

  itInFull('by a reader that goes away stops it too', async () => {
    const place = makePlace();
    const child = startTendon(place, ['run', '--json', '-m', place.script([{ ...bash('echo {i}; sleep 0.1'), times: 10_000 }]), 'x']);
    await child.until('"observation":"run"');
    child.closeOutput();
    expect(await child.ended).toBe(130);
    expect(processesWith(place.home)).toEqual([]);
  });
});
