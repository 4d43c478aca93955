import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_BROKER_NAME } from '@tendon/protocol/executor-api';

const HOST = /^[a-z0-9.-]+(:\d{1,5})?$/;

/**
 * Sends git's requests for these hosts through the broker, whichever way their URLs are written, so that git needs no token here.
 * It stands where the system's configuration does: what the user or a repository configures comes after it and wins. Variables
 * for everything that runs inside; none where the file could not be written.
 */
export function writeGitConfig(hosts: readonly string[], home: string | undefined): Readonly<Record<string, string>> {
  const known = hosts.filter((host) => HOST.test(host));
  if (known.length === 0 || home === undefined) return {};
  const folder = join(home, '.cache/tendon');
  const path = join(folder, 'gitconfig');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, `[include]\n\tpath = /etc/gitconfig\n${known.map(sectionFor).join('')}`);
    return { GIT_CONFIG_SYSTEM: path };
  } catch {
    return {}; // git works, without the token
  }
}

function sectionFor(host: string): string {
  const [name = host] = host.split(':');
  const spellings = [`https://${host}/`, `http://${host}/`, `ssh://git@${name}/`, `git@${name}:`];
  return `[url "http://${GIT_BROKER_NAME}/${host}/"]\n${spellings.map((url) => `\tinsteadOf = ${url}\n`).join('')}`;
}
