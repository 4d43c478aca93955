/** The egress proxy as it is from inside a real sandbox, whichever driver has it: what each policy lets through, and git through the broker. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Runtime } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { type GitHost, startGitHost } from '@tendon/testing/servers';
import type { SandboxDriver } from '@tendon/runtime';
import { createTestSandboxes, type GitLogin, type NetworkPolicy, never, type Ran, run, type TestSandboxes } from '@tendon/runtime/testing';

const TOKEN = 'glpat-0123456789abcdefghij';
const BASIC = Buffer.from(`oauth2:${TOKEN}`).toString('base64');

/** What a case of one driver's own works with. */
export interface EgressUnderTest {
  readonly sandboxes: TestSandboxes;
  readonly runtime: Runtime;
  readonly gitHost: GitHost;
  /** `127.0.0.1:<port>` of a service of this machine; it answers "the host answers". */
  readonly service: string;
  readonly token: string;
  inside(command: string): Promise<Ran>;
  /** From the next connection on. */
  setPolicy(policy: Partial<NetworkPolicy>): Promise<void>;
}

export interface EgressSubject {
  /** `service`: a place near the host that somebody could open. */
  readonly make: (service: string) => SandboxDriver | Promise<SandboxDriver>;
  readonly close?: () => Promise<void>;
}

export function describeEgress(name: string, subject: EgressSubject, own: (under: () => EgressUnderTest) => void): void {
  describe(`the egress proxy of a sandbox, driver ${name}`, () => {
    let sandboxes: TestSandboxes;
    let runtime: Runtime;
    let gitHost: GitHost;
    let service: Server;
    let port = 0;
    let policy: NetworkPolicy;
    const logins = new Map<string, GitLogin>();

    beforeAll(async () => {
      service = createServer((_request, response) => response.end('the host answers'));
      await once(service.listen(0, '127.0.0.1'), 'listening');
      port = (service.address() as AddressInfo).port;
      gitHost = await startGitHost(TOKEN);
      gitHost.create('private/r', { 'a.txt': 'from the host\n' }, ['topic']);
      gitHost.create('open/r', { 'b.txt': 'open\n' });
      const authorization = new Secret(`Basic ${BASIC}`);
      logins.set(gitHost.name, { origin: `http://${gitHost.name}`, authorization });
      sandboxes = createTestSandboxes(await subject.make(`127.0.0.1:${port}`), {
        networkOf: async () => policy,
        git: () => ({ hosts: async () => [...logins.keys()], login: async (host) => logins.get(host) }),
      });
      policy = { mode: 'full', allow: [], allowPrivate: [] };
      runtime = await sandboxes.runtimes.acquire('network', { signal: never });
    });
    afterAll(async () => {
      await sandboxes?.close();
      await subject.close?.();
      gitHost?.close();
      service?.close();
    });
    const setPolicy = async (given: Partial<NetworkPolicy>): Promise<void> => {
      policy = { mode: 'full', allow: [], allowPrivate: [gitHost.name], ...given };
      await sandboxes.runtimes.networkChanged('network');
    };
    beforeEach(() => setPolicy({}));

    const inside = (command: string) => run(runtime, command);
    /** What a request for it is answered with: a status, or the words of a refused tunnel. */
    const ask = async (url: string) => (await inside(`curl -sS -m 20 -o /tmp/body -w '%{http_code}' '${url}' 2>&1; cat /tmp/body`)).output;

    it.each([
      ['none', 'http://github.com/', /no network/],
      ['none', 'http://example.com/', /no network/],
      ['none', 'http://127.0.0.1:$PORT/', /no network/],
      ['allowlist', 'http://example.com/', /not on the list.*SANDBOX_NETWORK_ALLOW/],
      ['allowlist', 'http://github.com:8080/', /port 8080 is not open/],
      ['allowlist', 'http://127.0.0.1:$PORT/', /not on the list/],
      ['allowlist', 'http://169.254.169.254/', /not on the list/],
      ['allowlist', 'http://gist.github.com/', /not on the list/],
      ['full', 'http://127.0.0.1:$PORT/', /loopback/],
      ['full', 'http://localhost:$PORT/', /loopback|not public/],
      ['full', 'http://169.254.169.254/', /link-local/],
      ['full', 'http://10.0.0.1/', /private/],
      ['full', 'http://192.168.1.1:8080/', /private/],
      ['full', 'http://[::1]:$PORT/', /not public/],
      ['full', 'http://1.1.1.1:25/', /port 25/],
    ] as const)('SB70, SB20: %s refuses %s and says why', async (mode, url, reason) => {
      await setPolicy({ mode, allowPrivate: [] });
      const answer = await inside(`curl -sS -m 20 --noproxy '' '${url.replace('$PORT', String(port))}'`);
      expect(answer.output).toMatch(reason);
      expect(answer.output).not.toContain('the host answers');
    });

    it('SB74, SB154: what was refused can be asked for', async () => {
      await setPolicy({ mode: 'none' });
      await ask('http://refused.example/');
      await ask('http://refused.example/');
      expect((await sandboxes.runtimes.refusedHosts('network')).at(-1)).toMatchObject({ host: 'refused.example', port: 80, count: 2 });
    });

    it('SB78: git clones, fetches and pushes a private repository, and the token is never inside', async () => {
      const url = `http://${gitHost.name}/private/r.git`;
      expect(await inside(`cd /workspace && git clone -q ${url} r && cat r/a.txt`)).toEqual({ output: 'from the host', exitCode: 0 });
      const commit = `git -c user.name=A -c user.email=a@b.c commit -qm second`;
      expect(
        await inside(`cd /workspace/r && git checkout -q topic && echo new > n.txt && git add n.txt && ${commit} && git push -q`),
      ).toMatchObject({ exitCode: 0 });
      expect(gitHost.git('private/r', 'log', '-1', '--format=%s', 'topic')).toBe('second');
      expect((await inside('cd /workspace/r && git fetch && git pull -q')).exitCode).toBe(0);
      expect((await inside(`git ls-remote -q http://${gitHost.name}/moved/r.git main 2>/dev/null | cut -f2`)).output).toBe(
        'refs/heads/main',
      );
      const traces = await inside(
        `cd /workspace/r; GIT_TRACE_CURL=1 GIT_TRACE=1 git fetch > /tmp/trace 2>&1; env > /tmp/env; git config --list --show-origin > /tmp/config;
       tr '\\0' '\\n' < /proc/self/environ >> /tmp/env; grep -rlE '${TOKEN.slice(0, 10)}|${BASIC.slice(0, 12)}' /tmp "$HOME" /workspace /var/lib/tendon 2>/dev/null; echo done`,
      );
      expect(traces.output).toBe('done');
      const notices = sandboxes.notices.filter((notice) => notice.startsWith('git of'));
      expect(notices).toEqual(
        expect.arrayContaining([expect.stringMatching(/fetch .*private\/r with the stored token/), expect.stringMatching(/push /)]),
      );
      expect(JSON.stringify(sandboxes.notices)).not.toContain(TOKEN);
    });

    it('SB78: LFS asks through the broker', async () => {
      const answer = await inside(
        `curl -sS -m 20 -X POST -H 'content-type: application/vnd.git-lfs+json' -d '{}' http://git.tendon.internal/${gitHost.name}/private/r.git/info/lfs/objects/batch`,
      );
      expect(answer.output).toBe('{"objects":[]}');
    });

    it('SB75: the broker gives nothing but git of known hosts, and says so', async () => {
      const broker = 'http://git.tendon.internal';
      expect(await ask(`${broker}/${gitHost.name}/api/v4/user`)).toMatch(/^403.*git's own protocol/s);
      expect(await ask(`${broker}/${gitHost.name}/private/r.git/HEAD`)).toMatch(/^403/);
      expect(await ask(`${broker}/127.0.0.1:${port}/private/r/info/refs?service=git-upload-pack`)).toMatch(/^403.*not a git host/s);
      expect(await ask(`${broker}/evil.example/private/r/info/refs?service=git-upload-pack`)).toMatch(/^403.*not a git host/s);
      await setPolicy({ mode: 'none' });
      expect(await ask(`${broker}/${gitHost.name}/private/r/info/refs?service=git-upload-pack`)).toMatch(/^403.*no network/s);
    });

    it('SB76: a private repository without a token is a clear error, not a question', async () => {
      const login = logins.get(gitHost.name)!;
      logins.set(gitHost.name, { origin: login.origin });
      try {
        const { output, exitCode } = await inside(`git ls-remote http://${gitHost.name}/private/r.git 2>&1`);
        expect(exitCode).not.toBe(0);
        expect(output).toMatch(/private or does not exist. Store a token/);
        expect((await inside(`git ls-remote -q http://${gitHost.name}/open/r.git main | cut -f2`)).output).toBe('refs/heads/main');
      } finally {
        logins.set(gitHost.name, login);
      }
    });

    own(() => ({ sandboxes, runtime, gitHost, service: `127.0.0.1:${port}`, token: TOKEN, inside, setPolicy }));
  });
}
