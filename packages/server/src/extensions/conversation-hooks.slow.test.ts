import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookEvent } from '@tendon/core';
import { ErrorObservation, RunAction, RunObservation, CallToolMcpAction } from '@tendon/protocol';
import { createMask, Secret } from '@tendon/protocol/masking';
import { expect, it, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { temporaryFolder } from '../server.test-support.ts';
import { conversationHooks } from './conversation-hooks.ts';

const run = (command: string): HookEvent => ({ moment: 'before_action', action: RunAction.create({ command }) });
const never = new AbortController();
const WAIT = { timeout: 50_000, interval: 5 };

function homeWith(hooks: unknown): string {
  const home = temporaryFolder();
  writeFileSync(join(home, 'hooks.json'), typeof hooks === 'string' ? hooks : JSON.stringify({ hooks }));
  return home;
}

async function opened(home: string, secrets: readonly string[] = []) {
  const problems: string[] = [];
  const mask = createMask(secrets.map((secret) => new Secret(secret)));
  const hooks = await conversationHooks('c'.repeat(32), { home, mask, onProblem: (problem) => problems.push(problem) });
  return { problems, hooks, ask: (event: HookEvent, { signal } = never) => hooks.run(event, { signal }) };
}

it('EX900: a hook is a command that is given JSON, in the home and with few variables of the server', async () => {
  process.env.TENDON_TEST_KEY = 'of the server';
  const home = homeWith({ before_action: [{ name: 'note', command: 'cat > seen.json; env > env.txt' }] });
  const { ask, hooks } = await opened(home, ['s3cret-value']);
  expect(['before_action', 'stop'].map((moment) => hooks.has(moment as 'stop'))).toEqual([true, false]);
  expect(await ask(run('echo s3cret-value'))).toEqual({ decision: 'go_on', reason: '', words: [], problems: [] });
  const seen = readFileSync(join(home, 'seen.json'), 'utf8');
  expect(JSON.parse(seen)).toMatchObject({ hook: 'before_action', conversation_id: 'c'.repeat(32), action: { action: 'run' } });
  expect(seen).not.toContain('s3cret-value');
  expect(readFileSync(join(home, 'env.txt'), 'utf8')).toMatch(/^PATH=/m);
  expect(readFileSync(join(home, 'env.txt'), 'utf8')).not.toContain('TENDON_TEST_KEY');
  delete process.env.TENDON_TEST_KEY;
});

it('EX900: a file that is wrong does not count and is reported once, and a change counts', async () => {
  const home = homeWith({ before_action: [{ command: 'exit 2', matches: 'run' }] });
  const { problems, hooks } = await opened(home);
  await hooks.refresh();
  expect(problems).toEqual([expect.stringMatching(/hooks\.json do not count: hooks\.before_action\.0: .*matches/)]);
  expect(hooks.has('before_action')).toBe(false);
  writeFileSync(join(home, 'hooks.json'), '{');
  await hooks.refresh();
  expect(problems).toEqual([expect.anything(), expect.stringContaining('it is not JSON')]);
  writeFileSync(join(home, 'hooks.json'), JSON.stringify({ hooks: { stop: [{ command: 'true' }] } }));
  await hooks.refresh();
  expect(hooks.has('stop')).toBe(true);
  expect(problems).toHaveLength(2);
});

it('EX900: while its file is wrong, a hook that was read before goes on', async () => {
  const home = homeWith({ before_action: [{ command: 'exit 2' }] });
  const { problems, hooks, ask } = await opened(home);
  writeFileSync(join(home, 'hooks.json'), '');
  await hooks.refresh();
  expect(await ask(run('ls'))).toMatchObject({ decision: 'block' });
  expect(problems).toEqual([expect.stringContaining('go on in this conversation')]);
  writeFileSync(join(home, 'hooks.json'), '{"hooks":{}}');
  await hooks.refresh();
  expect(hooks.has('before_action')).toBe(false);
});

it('EX901: exit code 2 blocks, with the reason from standard error, and later hooks are not asked', async () => {
  const home = homeWith({
    before_action: [
      { name: 'first', match: 'edit|ru*', command: 'echo "not in this folder." >&2; exit 2' },
      { name: 'second', command: 'touch asked' },
    ],
  });
  const { ask } = await opened(home);
  expect(await ask(run('ls'))).toMatchObject({ decision: 'block', reason: 'the hook “first” blocks it: not in this folder' });
  expect(existsSync(join(home, 'asked'))).toBe(false);
  const called: HookEvent = { moment: 'before_action', action: CallToolMcpAction.create({ name: 'prune', arguments: {} }) };
  expect(await ask(called)).toMatchObject({ decision: 'go_on' });
  expect(existsSync(join(home, 'asked'))).toBe(true);
});

it('EX901: a matcher names kinds of actions and MCP tools', async () => {
  const home = homeWith({ before_action: [{ match: 'shop_*', command: 'exit 2' }] });
  const { ask } = await opened(home);
  const call = (name: string) => ask({ moment: 'before_action', action: CallToolMcpAction.create({ name, arguments: {} }) });
  expect([(await call('shop_buy')).decision, (await call('my_shop_buy')).decision]).toEqual(['block', 'go_on']);
  expect(await call('shop_buy')).toMatchObject({ reason: 'the hook “exit” blocks it: it gave no reason' });
});

it('EX901: JSON on standard output blocks, asks, or adds words for the model', async () => {
  const say = (words: unknown) => `printf %s '${JSON.stringify(words)}'`;
  const home = homeWith({
    before_action: [
      { name: 'a', command: say({ decision: 'ask', reason: 'sure?' }) },
      { name: 'b', command: `printf '{"context":"%020000d"}' 0` },
    ],
    stop: [{ name: 'c', command: say({ decision: 'block', reason: 'go on' }) }],
  });
  const { ask } = await opened(home);
  const { words, ...rest } = await ask(run('ls'));
  expect(rest).toEqual({ decision: 'ask', reason: 'the hook “a” asks: sure?', problems: [] });
  expect(words).toHaveLength(1);
  expect(words[0]).toMatch(/^\[Hook “b”\]\n0/);
  expect(words[0]!.length).toBeLessThan(8_100);
  expect(await ask({ moment: 'stop' })).toMatchObject({ decision: 'block', reason: 'the hook “c” blocks it: go on' });
});

it('EX902: another exit code, a signal, too much output, no JSON and a time that is up are problems, and block nothing', async () => {
  const commands = ['echo why >&2; exit 1', 'kill -9 $$', 'yes', 'echo hello', 'sleep 600', '/nowhere/none', `echo '{"decision":"allow"}'`];
  const home = homeWith({ before_action: commands.map((command) => ({ command, timeout: command.startsWith('sleep') ? 1 : 10 })) });
  const { ask } = await opened(home);
  const { decision, problems } = await ask(run('ls'));
  expect(decision).toBe('go_on');
  expect(problems).toEqual(
    ['exit code 1: why', 'SIGKILL', 'more than 65536 bytes', 'other than', 'longer than 1 s', 'exit code 127', 'other than'].map(
      (words) => expect.stringContaining(words) as string,
    ),
  );
});

itInFull(
  'EX920: a hook that is to block when it fails blocks the action, the end and the rest, and its failure is in the log',
  async () => {
    for (const [command, why] of [
      ['exit 1', 'exit code 1'],
      ['sleep 600', 'longer than 1 s'],
      ['/nowhere/none', 'exit code 127'],
      ['echo yes', 'something other than'],
    ]) {
      const guard = { name: 'guard', command, fail: 'block', timeout: command === 'sleep 600' ? 1 : 10 };
      const { ask } = await opened(homeWith({ before_action: [guard, { command: 'touch asked' }], stop: [guard] }));
      for (const event of [run('ls'), { moment: 'stop' } as const])
        expect(await ask(event)).toMatchObject({
          decision: 'block',
          reason: expect.stringMatching(new RegExp(`the hook “guard” blocks it, because it failed: .*${why}`)) as string,
          problems: [expect.stringContaining('failed and blocks') as string],
        });
    }
  },
);

it('EX920: what is done cannot be blocked, so a hook after an action with that word does not count', async () => {
  const { problems, hooks } = await opened(homeWith({ after_action: [{ command: 'true', fail: 'block' }] }));
  expect(hooks.has('after_action')).toBe(false);
  expect(problems).toEqual([expect.stringContaining('hooks.after_action.0: ')]);
});

it('EX902: exit code 2 blocks, however much was printed', async () => {
  const much = `head -c 300000 /dev/zero | tr '\\0' x`;
  for (const command of [`${much} >&2; exit 2`, `${much}; exit 2`, `${much}; ${much} >&2; exit 2`]) {
    const { ask } = await opened(homeWith({ before_action: [{ command, timeout: 10 }] }));
    expect(await ask(run('ls'))).toMatchObject({ decision: 'block', problems: [] });
  }
});

itInFull('EX902: exit code 2 blocks, though a program outside of its group has its output open', async () => {
  const daemon = `setsid sh -c 'echo $$ > pid; exec sleep 600' & until test -s pid; do sleep 0.05; done; exit 2`;
  const home = homeWith({ before_action: [{ command: daemon, timeout: 5 }] });
  const { ask } = await opened(home);
  const answer = await ask(run('ls'));
  process.kill(Number(readFileSync(join(home, 'pid'), 'utf8')), 'SIGKILL');
  expect(answer).toMatchObject({ decision: 'block' });
});

it('EX903: a hook after an action is given its result, and what it says on exit code 2 is for the model', async () => {
  const home = homeWith({ after_action: [{ name: 'lint', match: 'run', command: 'cat > seen.json; echo "2 problems" >&2; exit 2' }] });
  const { ask } = await opened(home);
  const observation = RunObservation.create('y'.repeat(100_000), { command: 'make', metadata: { exit_code: 3 } } as never);
  const after: HookEvent = { moment: 'after_action', action: RunAction.create({ command: 'make' }), observation };
  expect(await ask(after)).toMatchObject({ words: ['[Hook “lint”]\n2 problems'] });
  const seen = JSON.parse(readFileSync(join(home, 'seen.json'), 'utf8')) as { observation: { content: string; exit_code: number } };
  expect(seen.observation).toMatchObject({ observation: 'run', exit_code: 3 });
  expect(seen.observation.content.length).toBeLessThanOrEqual(32_100);
  const failed = { ...after, observation: ErrorObservation.create('no', { error_id: '' }) };
  expect(await ask(failed)).toMatchObject({ problems: [] });
});

it('EX908: a hook that is ended leaves no process behind', async () => {
  const home = homeWith({ stop: [{ command: 'sleep 600 & echo $! > pid; mkfifo ready; echo > ready; wait' }] });
  const { ask } = await opened(home);
  const stopped = new AbortController();
  const asked = ask({ moment: 'stop' }, stopped);
  await vi.waitUntil(() => existsSync(join(home, 'ready')), WAIT);
  readFileSync(join(home, 'ready'));
  stopped.abort();
  expect(await asked).toMatchObject({ decision: 'go_on', problems: [expect.stringContaining('was stopped')] });
  const pid = Number(readFileSync(join(home, 'pid'), 'utf8'));
  const isGone = (): boolean => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
    } catch {
      return true;
    }
  };
  await vi.waitUntil(isGone, WAIT);
});

it('EX908: a program that a hook leaves in the background with its output open does not hold it up', async () => {
  const { ask } = await opened(homeWith({ stop: [{ command: 'sleep 600 & exit 2' }] }));
  expect(await ask({ moment: 'stop' })).toMatchObject({ decision: 'block' });
});
