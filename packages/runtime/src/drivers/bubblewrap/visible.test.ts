import { describe, expect, it } from 'vitest';
import { hostUser } from '../start/host-user.ts';
import { refuseHidden } from '../start/prepare-folders.ts';
import { isWithin } from '../../workspace/held-folder.ts';
import { masks, systemBinds } from './visible.ts';

describe('what the inside sees', () => {
  it('SB17: binds neither / nor the whole of /etc, /home, /root, /var or /run', () => {
    const paths = systemBinds(() => true).map(({ target }) => target);
    for (const path of ['/', '/etc', '/home', '/root', '/var', '/run', '/opt', '/etc/shadow', '/etc/ssl', '/etc/ssl/private', '/etc/pki']) {
      expect(paths).not.toContain(path);
    }
  });

  it('SB17: masks a hidden folder wherever it lies below something bound', () => {
    const binds = [
      { source: '/usr', target: '/usr' },
      { source: '/home/me', target: '/workspace' },
      { source: '/home/me/.tendon/workspaces/1', target: '/workspace' },
    ];
    expect(masks(['/home/me/.tendon'], binds)).toEqual(['/workspace/.tendon']);
    expect(masks(['/home/me/.tendon', '/home/me/.tendon/sandboxes', '/home/me/.tendon'], binds)).toEqual(['/workspace/.tendon']);
    expect(masks(['/usr/local/tendon'], binds)).toEqual(['/usr/local/tendon']);
    expect(masks(['/srv/tendon', '/home/menace'], binds)).toEqual([]);
  });

  it.each([
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/a/..b', '/a', true],
    ['/ab', '/a', false],
    ['/', '/a', false],
  ])('SB17: %s within %s is %s', (path, folder, answer) => expect(isWithin(path, folder)).toBe(answer));

  it('SB17: refuses the server’s folders as workspaces, but for those made for it', () => {
    const scratch = '/home/me/.tendon/sandboxes/1/workspace';
    const own = { hidden: ['/home/me/.tendon'], workspacesFolder: '/home/me/.tendon/workspaces', scratch };
    for (const path of ['/home/me/.tendon', '/home/me/.tendon/workspaces', '/home/me/.tendon/blobs']) {
      expect(() => refuseHidden({ path }, own)).toThrow(/belongs to the server/);
    }
    for (const path of ['/home/me', '/home/me/.tendon/workspaces/1', '/home/me/.tendon/sandboxes/1/workspace', '/srv'])
      expect(() => refuseHidden({ path }, own)).not.toThrow();
  });
});

describe('who the sandbox is on the host', () => {
  const root = { uid: 0, gid: 0 };
  const me = { uid: 1000, gid: 100 };

  it('SB5: is the server, when that is an ordinary user', () => {
    expect(hostUser(me, root, 'x')).toMatchObject({ ...me, insideUid: 1000, insideGid: 100, staged: false, idMapped: false });
  });

  it('SB5: is the owner of the workspace, when the server is root', () => {
    expect(hostUser(root, me, 'x')).toMatchObject({ ...me, insideUid: 1000, staged: true, idMapped: false });
    expect(hostUser(root, { uid: 1000, gid: 0 }, 'x')).toMatchObject({ uid: 1000, gid: 1000 });
  });

  it('SB5: is nobody known, when both are root: a uid of its own for each sandbox', () => {
    const [one, two] = [hostUser(root, root, 'one'), hostUser(root, root, 'two')];
    expect(one).toMatchObject({ insideUid: 1000, insideGid: 1000, staged: true, idMapped: true });
    expect(one.uid).toBeGreaterThanOrEqual(1_900_000_000);
    expect(one.uid).toBeLessThan(2 ** 31);
    expect(one.uid).not.toBe(two.uid);
    expect(hostUser(root, root, 'one')).toEqual(one);
  });
});
