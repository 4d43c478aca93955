import { expect, it } from 'vitest';
import { limitsOf } from '../control-group.ts';
import { probeDocker } from './probe-docker.ts';

const FACTS = {
  name: 'Docker 28.0.0',
  isPodman: false,
  isRootless: false,
  remapsUsers: false,
  architecture: process.arch === 'x64' ? 'amd64' : 'arm64',
};

it('SB491: an engine that confines by SELinux is said not to confine sandboxes by it', async () => {
  const describe = async (hasSelinux: boolean): Promise<unknown> => {
    const probe = await probeDocker(async () => ({ ...FACTS, hasSelinux }), {
      executor: { folder: '/nowhere', entry: 'main.mjs', node: process.execPath },
      image: 'debian:bookworm',
      limits: limitsOf({}),
    });
    return probe.available ? probe.description : probe.reason;
  };
  expect(await describe(true)).toContain('NOT CONFINED BY SELINUX');
  expect(await describe(false)).not.toContain('SELINUX');
});
