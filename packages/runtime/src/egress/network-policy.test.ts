import { describe, expect, it } from 'vitest';
import { ALLOWED_HOSTS } from './allowed-hosts.ts';
import { hostPattern, isOpenedPrivately, nameRefusal, type NetworkPolicy } from './network-policy.ts';
import { createRefusedHosts } from './refused-hosts.ts';
import { createEgress } from './egress.ts';

const policy = (given: Partial<NetworkPolicy>): NetworkPolicy => ({ mode: 'allowlist', allow: [], allowPrivate: [], ...given });
const added = policy({ allow: ['example.com', '*.corp.example', '93.184.215.14'] });

describe('network policy', () => {
  it.each([
    ['registry.npmjs.org', 443, true],
    ['pypi.org', 443, true],
    ['files.pythonhosted.org', 443, true],
    ['static.crates.io', 443, true],
    ['proxy.golang.org', 443, true],
    ['deb.debian.org', 80, true],
    ['archive.ubuntu.com', 80, true],
    ['de.archive.ubuntu.com', 80, true],
    ['dl-cdn.alpinelinux.org', 443, true],
    ['rubygems.org', 443, true],
    ['repo1.maven.org', 443, true],
    ['github.com', 443, true],
    ['github.com', 22, true],
    ['GitHub.com.', 443, true],
    ['raw.githubusercontent.com', 443, true],
    ['gitlab.com', 443, true],
    ['bitbucket.org', 443, true],
    ['codeberg.org', 443, true],
    ['example.com', 443, true],
    ['a.b.corp.example', 443, true],
    ['93.184.215.14', 443, true],
    ['corp.example', 443, false],
    ['notcorp.example', 443, false],
    ['evil-github.com', 443, false],
    ['github.com.evil.example', 443, false],
    ['gist.github.com', 443, false],
    ['www.example.com', 443, false],
    ['github.com', 8443, false],
    ['1.1.1.1', 443, false],
    ['', 443, false],
  ])('SB70, SB71: allowlist and %s:%i is %s', (host, port, isAllowed) => {
    expect(nameRefusal(added, host, port) === undefined).toBe(isAllowed);
  });

  it('SB70: none refuses everything, full nothing by name', () => {
    for (const host of ['github.com', 'example.com']) {
      expect(nameRefusal(policy({ mode: 'none', allow: [host] }), host, 443)).toMatch(/no network.*network setting/);
      expect(nameRefusal(policy({ mode: 'full' }), host, 8080)).toBeUndefined();
    }
  });

  it('SB73: the operator opens one place at one port, and not where there is no network', () => {
    const opened = policy({ allowPrivate: ['127.0.0.1:3000', 'db.lan:5432'] });
    expect(isOpenedPrivately(opened, 'DB.lan', 5432)).toBe(true);
    expect(isOpenedPrivately(opened, '127.0.0.1', 3000)).toBe(true);
    expect(isOpenedPrivately(opened, '127.0.0.1', 3001)).toBe(false);
    expect(isOpenedPrivately({ ...opened, mode: 'none' }, 'db.lan', 5432)).toBe(false);
  });

  it.each(['*', '*.', 'a..b', 'http://a.b', 'a.b/c', 'a b', '', '-a.b', 'a.*.b', '**.a'])('SB71: %j is no pattern', (text) =>
    expect(hostPattern(text)).toBeUndefined(),
  );

  it('SB71: the list that is shipped holds patterns only, each once', () => {
    const all = Object.values(ALLOWED_HOSTS).flat();
    expect(all.map(hostPattern)).toEqual(all);
    expect(new Set(all).size).toBe(all.length);
  });

  it('SB74: what was refused is remembered in bounds and reported once', () => {
    const refused = createRefusedHosts();
    const reported = Array.from({ length: 200 }, (_, at) => refused.note(`host-${at % 100}.example`, 443, 'why'));
    expect(reported.slice(0, 100)).not.toContain(false);
    expect(refused.list).toHaveLength(50);
    expect(refused.note('host-99.example', 443, 'why')).toBe(false);
    expect(refused.list.at(-1)).toMatchObject({ host: 'host-99.example', port: 443, reason: 'why' });
    refused.note('x'.repeat(5000), 443, 'why');
    expect(refused.list.at(-1)?.host).toHaveLength(253);
  });
});

it('SB450: whatever a sandbox asks for in turn, the lines of the log are bounded in time, and say how many were left out', async () => {
  const lines: string[] = [];
  let ms = 0;
  const egress = createEgress({
    networkOf: async () => policy({ mode: 'none' }),
    notice: (line) => void lines.push(line),
    now: () => ms,
  });
  const { dial } = egress.of('one');
  const ask = (host: string) => expect(dial(host, 443, new AbortController().signal)).rejects.toThrow('no network');
  for (let at = 0; at < 300; at += 1) await ask(`10.0.0.${at % 253}`);
  expect(lines).toHaveLength(60);
  ms = 60_000;
  await ask('a.example');
  await ask('b.example');
  expect(lines.slice(60)).toEqual([
    expect.stringMatching(/a\.example.*240 more refused places were not logged/),
    expect.not.stringContaining('more'),
  ]);
  await expect(egress.of('other').dial('a.example', 443, new AbortController().signal)).rejects.toThrow('no network');
  expect(lines.at(-1)).toContain('conversation other');
});

describe('SB151: a policy within that of the host of the sandbox', () => {
  const modes = ['none', 'allowlist', 'full'] as const;

  it('lets through what both let through, and says who refuses', () => {
    const names = ['github.com', 'ours.example', 'theirs.example', 'both.example', 'evil.example'];
    for (const mode of modes) {
      for (const most of modes) {
        const own = { mode, allow: ['ours.example', 'both.example'] };
        const atMost = { mode: most, allow: ['theirs.example', 'both.example'] };
        for (const name of names) {
          const both = nameRefusal(own, name, 443) === undefined && nameRefusal(atMost, name, 443) === undefined;
          expect([mode, most, name, nameRefusal({ ...own, atMost }, name, 443) === undefined]).toEqual([mode, most, name, both]);
        }
      }
    }
    expect(nameRefusal({ mode: 'full', allow: [], atMost: { mode: 'none', allow: [] } }, 'github.com', 443)).toMatch(
      /host of this sandbox.*operator/,
    );
  });

  it('opens no private place where either gives no network', () => {
    const opened = policy({ allowPrivate: ['db.lan:5432'] });
    expect(isOpenedPrivately({ ...opened, atMost: { mode: 'allowlist', allow: [] } }, 'db.lan', 5432)).toBe(true);
    expect(isOpenedPrivately({ ...opened, atMost: { mode: 'none', allow: [] } }, 'db.lan', 5432)).toBe(false);
  });
});
