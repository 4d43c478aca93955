import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findHierarchies } from './control-group.ts';
import { ProcessorWeights } from './processor-weights.ts';

let folder: string;
let now: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tendon-weights-'));
  now = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const VERSIONS = [
  { version: 1, use: 'cpuacct.usage', weight: 'cpu.shares', full: '1024', low: '64', counted: (ms: number) => `${ms * 1e6}\n` },
  {
    version: 2,
    use: 'cpu.stat',
    weight: 'cpu.weight',
    full: '100',
    low: '6',
    counted: (ms: number) => `usage_usec ${ms * 1000}\nuser_usec 0\n`,
  },
];

describe.each(VERSIONS)('the weight of a sandbox, control groups of version $version', ({ use, weight, full, low, counted }) => {
  let usedMs = 0;
  const weightNow = () => readFileSync(join(folder, weight), 'utf8');
  /** So many processors are used for so long, and looked at each second. */
  function work(weights: ProcessorWeights, processors: number, seconds: number): void {
    for (let second = 0; second < seconds; second++) {
      now += 1000;
      usedMs += processors * 1000;
      writeFileSync(join(folder, use), counted(usedMs));
      weights.look();
    }
  }
  beforeEach(() => {
    usedMs = 5_000;
    writeFileSync(join(folder, use), counted(usedMs));
    writeFileSync(join(folder, weight), full);
  });

  it('SB900: falls while it takes more than three quarters of a processor, and is full again when it rests', () => {
    const weights = new ProcessorWeights(() => now);
    const stop = weights.watch([folder]);
    work(weights, 1.5, 1);
    expect(weightNow()).toBe(full); // a burst
    work(weights, 1.5, 3);
    expect(weightNow()).toBe(low);
    work(weights, 0.5, 60);
    expect(weightNow()).toBe(low); // what it gets beside others is no rest
    work(weights, 0, 3);
    expect(weightNow()).toBe(full);
    work(weights, 0.7, 60);
    expect(weightNow()).toBe(full);
    stop();
  });

  it('SB900: that an earlier server has lowered rises when it rests', () => {
    writeFileSync(join(folder, weight), low);
    const weights = new ProcessorWeights(() => now);
    const stop = weights.watch([folder]);
    work(weights, 0, 1);
    expect(weightNow()).toBe(full);
    stop();
  });

  it('SB900: is left alone when nobody watches it, and a group that vanishes is passed over', () => {
    const weights = new ProcessorWeights(() => now);
    weights.watch([folder])();
    work(weights, 4, 10);
    expect(weightNow()).toBe(full);
    const stop = weights.watch(['/nowhere', folder]);
    rmSync(join(folder, weight));
    work(weights, 4, 10);
    rmSync(join(folder, use));
    now += 1000;
    weights.look();
    stop();
    weights.watch(['/nowhere'])();
  });
});

it('SB900: processor time is counted where it is mounted alone', () => {
  const mounts = [
    '25 21 0:22 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
    '26 21 0:23 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct',
  ].join('\n');
  const found = findHierarchies(mounts, '2:cpuacct:/\n1:cpu:/\n');
  expect(found.map(({ ownGroup, controllers }) => [ownGroup, controllers])).toEqual([
    ['/sys/fs/cgroup/cpu', ['cpu']],
    ['/sys/fs/cgroup/cpuacct', ['cpuacct']],
  ]);
});
