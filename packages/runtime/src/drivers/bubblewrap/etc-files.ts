import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bind } from './visible.ts';
import type { HostUser } from '../start/host-user.ts';

export const INSIDE_USER = 'tendon';
export const INSIDE_HOME = `/home/${INSIDE_USER}`;
export const INSIDE_HOSTNAME = 'tendon';

/** The inside's own /etc: it knows one user and no network but its own loopback. Returns the binds of what was written. */
export async function writeEtcFiles(folder: string, user: HostUser): Promise<readonly Bind[]> {
  const files = etcFiles(user);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o644 })));
  return Object.keys(files).map((name) => ({ source: join(folder, name), target: `/etc/${name}`, isPrivate: true }));
}

function etcFiles({ insideUid, insideGid }: HostUser): Readonly<Record<string, string>> {
  const own = `${INSIDE_USER}:x:${insideUid}:${insideGid}:Tendon sandbox:${INSIDE_HOME}:/bin/bash`;
  return {
    passwd: lines('root:x:0:0:root:/root:/usr/sbin/nologin', own, 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin'),
    group: lines('root:x:0:', 'tty:x:5:', `${INSIDE_USER}:x:${insideGid}:`, 'nogroup:x:65534:'),
    hosts: lines('127.0.0.1 localhost', '::1 localhost', `127.0.1.1 ${INSIDE_HOSTNAME}`),
    hostname: lines(INSIDE_HOSTNAME),
    'resolv.conf': lines('# Names are resolved by the proxy outside; see HTTPS_PROXY.'),
  };
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
