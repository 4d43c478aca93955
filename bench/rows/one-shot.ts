import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandLine, Row } from '../row.ts';

export const oneShot: Row = {
  title: 'one-shot command line, no steps, start → done, ms',
  of: 'command',
  async measure(command, { rounds }) {
    const times: number[] = [];
    // The first one fills caches.
    for (let round = 0; round <= rounds; round++) {
      const time = await shot(command);
      if (round > 0) times.push(time);
    }
    return times;
  },
};

async function shot({ text, env }: CommandLine): Promise<number> {
  const cwd = mkdtempSync(join(tmpdir(), 'tendon-bench-'));
  try {
    const started = performance.now();
    // Not spawnSync: the model answers from this process.
    const child = spawn('bash', ['-c', `exec ${text.replace('{task}', "'BENCH:0:true'")}`], {
      cwd,
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${text} ended with ${code}`);
    return performance.now() - started;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
