import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const read = readConfig(env);
  return read.ok ? [] : read.problems;
}

describe('SB49: containers by the environment', () => {
  it('takes the names of 0.62', () => {
    const read = readConfig({
      RUNTIME: 'docker',
      DOCKER_HOST: 'unix:///run/user/1000/docker.sock',
      SANDBOX_BASE_CONTAINER_IMAGE: 'debian:bookworm',
      SANDBOX_USER_ID: '1000',
      SANDBOX_VOLUMES: '/srv/project:/workspace:rw,/srv/data:/data:ro',
      SANDBOX_READ_ONLY: 'true',
      SANDBOX_OCI_RUNTIME: 'runsc',
      SANDBOX_CONTAINER_NETWORK: 'engine',
      SANDBOX_PORTS: '8080,0.0.0.0:3001:3000',
    });
    expect(read).toMatchObject({ ok: true, config: { runtime: 'docker', workspaceBase: '/srv/project' } });
    expect(read.ok && read.config.container).toEqual({
      host: 'unix:///run/user/1000/docker.sock',
      image: 'debian:bookworm',
      mayPull: true,
      userId: 1000,
      network: 'engine',
      isRootReadOnly: true,
      ociRuntime: 'runsc',
      volumes: [{ source: '/srv/data', target: '/data', readOnly: true }],
      ports: [
        { address: '127.0.0.1', host: 8080, inside: 8080 },
        { address: '0.0.0.0', host: 3001, inside: 3000 },
      ],
    });
  });

  it.each([
    ['SANDBOX_USER_ID', '0', /never root/],
    ['SANDBOX_VOLUMES', 'data:/data', /is expected/],
    ['SANDBOX_VOLUMES', '/data:/data:rx', /ro or rw/],
    ['SANDBOX_VOLUMES', '/data:/opt/tendon/bin', /taken inside/],
    ['SANDBOX_VOLUMES', '/var/run/docker.sock:/var/run/docker.sock', /an escape/],
    ['SANDBOX_VOLUMES', '/srv:/workspace:ro', /cannot be read-only/],
    ['SANDBOX_PORTS', '99999', /is expected/],
    ['SANDBOX_BASE_CONTAINER_IMAGE', '../x?y', /name of an image/],
    ['SANDBOX_OCI_RUNTIME', '/usr/bin/runsc', /name of a runtime/],
    ['SANDBOX_PULL', 'always', /missing or never/],
  ])('refuses %s=%s', (name, value, words) => expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(words)]));
});
