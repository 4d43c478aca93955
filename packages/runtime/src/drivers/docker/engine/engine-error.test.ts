import { describe, expect, it } from 'vitest';
import { EngineError, EngineUnreachable, explain } from './engine-error.ts';
import { findEngine } from './engine-client.ts';

describe('SB45: what an engine answers is shown in one line, with what to do', () => {
  it.each([
    ['Bind for 127.0.0.1:8080 failed: port is already allocated', /port .* is taken/, /SANDBOX_PORTS/],
    ['write /var/lib/docker/tmp/x: no space left on device', /disk .* is full/, /docker system prune/],
    ['No such image: nowhere/none:latest', /no such image/, /SANDBOX_BASE_CONTAINER_IMAGE/],
    ['pull access denied for x, repository does not exist or may require docker login', /needs a login/, /docker login/],
    ['no matching manifest for linux/amd64 in the manifest list entries', /another kind of processor/, /Choose an image/],
    [
      'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
      /registry .* cannot be reached/,
      /docker load/,
    ],
    ['error setting rlimit type 7: operation not permitted', /resource limits/, /ulimit -Hn/],
    ['something\nof more lines', /^something$/, /docker info/],
  ])('%s', (message, reason, fix) => {
    const found = explain(new EngineError(500, message));
    expect(found.reason).toMatch(reason);
    expect(found.fix).toMatch(fix);
    expect(found.reason).not.toContain('\n');
  });

  it('an engine that does not run, and one whose socket is closed to this user', () => {
    const failure = (code: string) => explain(new EngineUnreachable('/var/run/docker.sock', Object.assign(new Error(code), { code })));
    expect(failure('ENOENT')).toEqual({ reason: expect.stringContaining('does not answer'), fix: expect.stringContaining('Start it') });
    expect(failure('EACCES').fix).toContain('usermod -aG docker');
  });

  it('an engine on another machine', () => {
    expect(findEngine('tcp://10.0.0.1:2375')).toEqual({ problem: expect.stringContaining('on this machine') });
    expect(findEngine('unix:///run/x.sock')).toEqual({ socketPath: '/run/x.sock' });
  });
});
