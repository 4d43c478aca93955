import { afterAll, beforeAll, expect, it } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
// The soft timeout is far away: what is handed back early is handed back for waiting.
beforeAll(async () => void (executor = await startExecutor({ noOutputTimeoutSeconds: 600 })));
afterAll(() => executor.kill());

it('RT35: a command that waits for input is handed back, said to wait, and takes its answer', async () => {
  expect(await executor.run('read -r -p "go on? " answer; echo "you said $answer"')).toMatchObject({
    exitCode: -1,
    suffix: expect.stringMatching(/input/),
  });
  expect(await executor.run('yes', { is_input: true })).toMatchObject({ content: 'you said yes', exitCode: 0 });
});
