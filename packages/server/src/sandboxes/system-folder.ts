import { isWithin } from '@tendon/runtime';

/** Refused with everything below them. */
const DEEP = [
  '/bin',
  '/boot',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/proc',
  '/sbin',
  '/sys',
  '/usr/bin',
  '/usr/lib',
  '/usr/sbin',
];
/** Refused by themselves only: users have projects below them. */
const ITSELF = ['/', '/dev', '/home', '/run', '/usr', '/usr/local', '/usr/share', '/var', '/var/lib'];

/** Whether writing to `path` (real, absolute) can change the system or the files of all its users: such a folder is never given to agents. */
export function isSystemFolder(path: string): boolean {
  return ITSELF.includes(path) || DEEP.some((folder) => isWithin(path, folder));
}
