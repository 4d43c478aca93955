import { expect, it } from 'vitest';
import { limitsOf } from '../../processes/control-group.ts';
import { probeDocker } from './probe-docker.ts';

const FACTS = {
  name: 'Docker 28.0.0',
  isPodman: false,
  isRootless: false,
  remapsUsers: false,
  architecture: process.arch === 'x64' ? 'amd64' : 'arm64',
  ociRuntimes: ['runc'],
};

const OPTIONS = {
  executor: { folder: '/nowhere', entry: 'main.mjs', node: process.execPath },
  image: 'debian:bookworm',
  limits: limitsOf({}),
};

it('SB432: a runtime that the engine does not know, or takes from its own configuration only, is refused in words', async () => {
  const probe = (ociRuntime: string, isPodman = false): Promise<unknown> =>
    probeDocker(async () => ({ ...FACTS, isPodman, hasSelinux: false }), { ...OPTIONS, ociRuntime });
  expect(await probe('kata')).toMatchObject({ available: false, reason: 'the engine knows no runtime kata, only runc' });
  expect(await probe('runc', true)).toMatchObject({ available: false, fix: expect.stringContaining('containers.conf') });
  expect(await probe('runc')).toMatchObject({ available: true, description: expect.stringContaining(' with runc, ') });
  expect(await probe('io.containerd.kata.v2')).toMatchObject({ available: true });
});

it('SB491: of an engine that confines by SELinux the probe reports that sandboxes are not confined by it', async () => {
  const describe = async (hasSelinux: boolean): Promise<unknown> => {
    const probe = await probeDocker(async () => ({ ...FACTS, hasSelinux }), OPTIONS);
    return probe.available ? probe.description : probe.reason;
  };
  expect(await describe(true)).toContain('NOT CONFINED BY SELINUX');
  expect(await describe(false)).not.toContain('SELINUX');
});
