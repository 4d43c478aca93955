import { expect, it, onTestFinished } from 'vitest';
import { startExecutor } from '../testing/start-executor.ts';

it('RT722: what a shell has printed before its end is there in full, and what it leaves to the next', async () => {
  const executor = await startExecutor();
  onTestFinished(() => executor.kill());
  for (let round = 0; round < 20; round += 1) {
    // No more than a terminal hands on after its shell's end.
    const ended = await executor.run(`LEFT=${round}; seq 600; exit 3`);
    expect(ended).toMatchObject({ content: expect.stringMatching(/^1\n2\n[^]*\n600(?:\nexit)?$/), exitCode: 3 });
    expect((await executor.run('echo "$LEFT"')).content).toBe(String(round));
  }
});

it('RT722: a process that holds the terminal of an ended shell does not hold up the next', async () => {
  const executor = await startExecutor();
  onTestFinished(() => executor.kill());
  expect(await executor.run("trap '' HUP; sleep 60 & exit 4")).toMatchObject({ exitCode: 4 });
  expect(await executor.run('echo next')).toMatchObject({ content: 'next' });
});
