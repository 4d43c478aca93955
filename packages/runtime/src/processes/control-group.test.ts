import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createGroups, DEFAULT_LIMITS, findHierarchies, limitsOf, limitEventsIn, removeGroups } from './control-group.ts';

const HYBRID_MOUNTS = [
  '25 21 0:22 / /sys/fs/cgroup/cpu rw,relatime shared:5 - cgroup cgroup rw,cpu',
  '26 21 0:23 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
  '27 21 0:24 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids',
  '28 21 0:25 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer',
].join('\n');

const made: string[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((path) => rm(path, { recursive: true, force: true })));
});

describe('control groups', () => {
  it('SB13: are made below the own group of each version 1 hierarchy', () => {
    const found = findHierarchies(HYBRID_MOUNTS, '3:pids:/a\n2:memory:/b/c\n1:cpu:/\n4:freezer:/\n');
    expect(found.map(({ version, ownGroup }) => [version, ownGroup])).toEqual([
      [1, '/sys/fs/cgroup/cpu'],
      [1, '/sys/fs/cgroup/memory/b/c'],
      [1, '/sys/fs/cgroup/pids/a'],
    ]);
  });

  it('SB13: in a container the mount may already start at the own group', () => {
    const found = findHierarchies('30 21 0:9 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw', '0::/docker/1/x\n');
    expect(found).toEqual([{ version: 2, ownGroup: '/sys/fs/cgroup/x', controllers: ['memory', 'pids', 'cpu'] }]);
  });

  it('SB13: version 2 limits stand on the outer group', async () => {
    const ownGroup = await mkdtemp(join(tmpdir(), 'tendon-group-'));
    made.push(ownGroup);
    const outer = join(ownGroup, 'tendon', 'one');
    await mkdir(outer, { recursive: true });
    for (const file of ['memory.max', 'pids.max']) await writeFile(join(outer, file), 'max'); // as a kernel with these two would
    const groups = await createGroups('one', limitsOf({ memoryBytes: 1000, processes: 7, cpus: 1 }), [
      { version: 2, ownGroup, controllers: ['memory', 'pids', 'cpu'] },
    ]);
    expect(groups).toEqual({ outer: [outer], inner: [join(outer, 'inside')], enforced: ['memory', 'pids'] });
    expect(await readFile(join(outer, 'pids.max'), 'utf8')).toBe('7');
  });

  it('SB13: a hierarchy that cannot be written enforces nothing and leaves nothing', async () => {
    const groups = await createGroups('one', limitsOf({ memoryBytes: 1000, processes: 7, cpus: 1 }), [
      { version: 1, ownGroup: '/proc/self', controllers: ['memory'] },
    ]);
    expect(groups).toEqual({ outer: [], inner: [], enforced: [] });
    expect(await removeGroups([])).toBe(true);
  });

  it('SB901: are made while others of the same server are removed', async () => {
    const ownGroup = await mkdtemp(join(tmpdir(), 'tendon-group-'));
    made.push(ownGroup);
    const sandboxes = ['a', 'b', 'c', 'd'].map(async (name) => {
      for (let start = 0; start < 50; start++) {
        const { outer } = await createGroups(name, limitsOf({}), [{ version: 1, ownGroup, controllers: ['cpuacct'] }]);
        expect(outer).toEqual([join(ownGroup, 'tendon', name)]);
        expect(await removeGroups(outer)).toBe(true);
      }
    });
    await Promise.all(sandboxes);
  });

  it('SB90: count what was ended and refused for a limit, in either version', async () => {
    const [one, two] = [await mkdtemp(join(tmpdir(), 'tendon-group-')), await mkdtemp(join(tmpdir(), 'tendon-group-'))];
    made.push(one, two);
    await mkdir(join(one, 'inside'));
    await writeFile(join(one, 'memory.events'), 'low 0\nmax 12\noom 3\noom_kill 2\n');
    await writeFile(join(one, 'pids.events'), 'max 4\n');
    await mkdir(join(two, 'inside'));
    await writeFile(join(two, 'inside', 'memory.oom_control'), 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n');
    expect(limitEventsIn([one])).toEqual({ memory: 2, processes: 4 });
    expect(limitEventsIn([two])).toEqual({ memory: 1, processes: 0 });
    expect(limitEventsIn(['/nowhere'])).toEqual({ memory: 0, processes: 0 });
  });

  it('SB90: a limit that is not given is as usual, and the temporary folders fit into the memory', () => {
    expect(limitsOf({ processes: 7 })).toEqual({ ...DEFAULT_LIMITS, processes: 7 });
    expect(limitsOf({ memoryBytes: 400 }).tmpBytes).toBe(100);
  });
});
