import { expect, it } from 'vitest';
import { isSystemFolder } from './workspace-roots.ts';

it.each(['/', '/etc', '/etc/ssl', '/usr', '/usr/bin', '/usr/lib/python3', '/home', '/var', '/proc/self'])(
  'SV239: %s is a folder of the system',
  (path) => {
    expect(isSystemFolder(path)).toBe(true);
  },
);

it.each([
  '/root',
  '/home/me',
  '/tmp',
  '/srv/app',
  '/usr/local/src',
  '/var/www',
  '/run/user/1000/x',
  '/dev/shm/x',
  '/etcetera',
  '/opt/workspace_base',
])('SV239: %s is not', (path) => expect(isSystemFolder(path)).toBe(false));
