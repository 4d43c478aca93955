/** With the groups of this machine's kernel; where none can be made, nothing is weighed. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { createGroups, limitsOf, removeGroups } from '../processes/control-group.ts';
import { ENTER_GROUPS } from '../processes/launch.ts';
import { ProcessorWeights } from '../processes/processor-weights.ts';
import { createTestSandboxes, executorFolder, never, until } from '../testing/sandboxes.ts';

const BURN_A_SECOND = 'ulimit -t 1; while :; do :; done';
const NAME = `weights-${process.pid}`;
const { enforced, outer: tried } = await createGroups(NAME, limitsOf({}));
await removeGroups(tried);

const weightFileOf = (groups: readonly string[]): string =>
  groups.flatMap((group) => ['cpu.shares', 'cpu.weight'].map((file) => join(group, file))).find((path) => existsSync(path))!;

it.skipIf(!enforced.includes('cpu'))('SB900: the kernel counts what a group uses, and takes its weight', async () => {
  const { outer, inner } = await createGroups(NAME, limitsOf({}));
  try {
    const weightNow = () => Number(readFileSync(weightFileOf(outer), 'utf8'));
    const full = weightNow();
    let now = 0;
    const weights = new ProcessorWeights(() => now);
    const stop = weights.watch(outer);
    // Each ends when it has had a second of a processor, however long that takes here; about three are needed.
    const burners = Array.from({ length: 10 }, () => {
      if (weightNow() < full) return undefined;
      const { status, signal, stderr } = spawnSync('/bin/sh', ['-c', ENTER_GROUPS, 'tendon', ...inner, '--', 'sh', '-c', BURN_A_SECOND]);
      now += 100;
      weights.look();
      return `${status} ${signal} ${stderr}`;
    });
    expect(weightNow(), burners.join('; ')).toBeLessThan(full / 10);
    now += 60_000;
    weights.look();
    expect(weightNow()).toBe(full);
    stop();
  } finally {
    await removeGroups(outer);
  }
});

it.skipIf(!enforced.includes('cpu'))('SB900: a sandbox that is found again gets its full weight back', async () => {
  const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
  try {
    const { incarnation } = await sandboxes.runtimes.acquire('busy', { signal: never });
    const path = weightFileOf((await sandboxes.handle('busy')).groups);
    const full = readFileSync(path, 'utf8');
    await sandboxes.runtimes.close();
    writeFileSync(path, '50');
    const found = await (await sandboxes.restart()).acquire('busy', { signal: never });
    expect(found.incarnation).toBe(incarnation);
    await until('its weight is full', () => readFileSync(path, 'utf8') === full);
  } finally {
    await sandboxes.close();
  }
});
