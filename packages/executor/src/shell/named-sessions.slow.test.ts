import { afterAll, beforeAll, expect, it } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
beforeAll(async () => void (executor = await startExecutor({ limits: { noOutputTimeoutSeconds: 1 } })));
afterAll(() => executor.kill());

/** Seconds for what ends: on a busy machine any command may be silent for a second. */
const PATIENT = 60;
const inSession = (session: string, command: string, args: Record<string, unknown> = {}, timeout: number | undefined = PATIENT) =>
  executor.run(command, { session, ...args }, timeout);
const end = (session: string) => executor.act('kill', { id: session });

it('RT47: a session has its own folder, variables and foreground', async () => {
  expect(await inSession('build', 'mkdir far && cd far && OWN=1')).toMatchObject({ content: '', exitCode: 0 });
  expect(await executor.run('read -r answer; echo "got $answer"', { session: 'build' })).toMatchObject({ content: '', exitCode: -1 });
  expect(await executor.run('echo "free $OWN"; pwd', {}, PATIENT)).toMatchObject({ content: `free \n${executor.workspace}`, exitCode: 0 });
  expect(await inSession('build', 'hello', { is_input: true })).toMatchObject({ content: 'got hello', exitCode: 0 });
  expect(await inSession('build', 'echo "own $OWN"')).toMatchObject({ content: 'own 1', workingDir: `${executor.workspace}/far` });
  expect(await end('build')).toMatchObject({
    observation: 'run',
    content: 'Session "build" has ended.',
    extras: { metadata: { exit_code: 0 } },
  });
  expect(await inSession('build', 'echo "own $OWN"; pwd')).toMatchObject({ content: `own \n${executor.workspace}`, exitCode: 0 });
  await end('build');
});

it('RT48: eight are open at most, and one that is ended makes room', async () => {
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) expect(await inSession(`s${n}`, `echo ${n}`)).toMatchObject({ content: `${n}`, exitCode: 0 });
  expect(await executor.act('run', { command: 'touch ninth', session: 's9' })).toMatchObject({
    observation: 'error',
    content: expect.stringMatching(/^8 sessions are open: s1, s2, /),
  });
  expect(await end('s3')).toMatchObject({ observation: 'run', content: 'Session "s3" has ended.' });
  expect(await inSession('s9', 'ls ninth 2>/dev/null; echo ninth')).toMatchObject({ content: 'ninth', exitCode: 0 });
  for (const n of [1, 2, 4, 5, 6, 7, 8, 9]) await end(`s${n}`);
});

it('RT49: what is for no session is refused', async () => {
  expect(await executor.act('run', { command: 'touch ran', session: '../x' })).toMatchObject({
    observation: 'error',
    content: expect.stringMatching(/^"..\/x" names no session: /),
  });
  for (const args of [{ command: 'y', is_input: true }, { command: '' }]) {
    expect(await executor.act('run', { session: 'none', ...args })).toMatchObject({
      observation: 'error',
      content: 'There is no session "none" to interact with. Nothing was sent.',
    });
  }
  expect(await executor.run('ls ran 2>/dev/null; true', {}, PATIENT)).toMatchObject({ content: '', exitCode: 0 });
});
