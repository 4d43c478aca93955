import { expect, it } from 'vitest';
import { ShellProcess } from './shell-process.ts';
import type { ReadingPace } from './terminal/reading-pace.ts';

/** Longer than a shell's end is waited for without a look at its terminal. */
const LATE_MS = 200;

/** A terminal that is read no more from its first output on, and late again after the end of its shell. */
function latePace(): ReadingPace {
  return {
    reader(source) {
      let hasEnded = false;
      return {
        took: () => void (hasEnded || source.pause()),
        restart() {
          hasEnded = true;
          setTimeout(() => source.resume(), LATE_MS);
        },
        close() {},
      };
    },
  };
}

it('RT722: a shell is gone when its terminal has been read to the end, however late that is', async () => {
  let output = '';
  const [code, seen] = await new Promise<[number, string]>((resolve, reject) => {
    const shell = new ShellProcess(
      {
        ...{ shell: 'bash', script: '/dev/null', enter: [], setsid: 'setsid', pace: latePace() },
        env: { PATH: process.env.PATH ?? '', HOME: '/' },
      },
      () => false,
      {
        onOutput: (bytes) => void (output += bytes.toString()),
        onMarker: () => reject(new Error('a marker')),
        onReport: () => reject(new Error('a report')),
        onExit: () => {},
        onGone: (exitCode) => resolve([exitCode, output]),
      },
    );
    shell.type('echo $((6 * 7)) is the last word; exit 3\n');
  });
  expect(seen).toContain('42 is the last word');
  expect(code).toBe(3);
});
