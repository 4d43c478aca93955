import { readFile, stat } from 'node:fs/promises';

/** What the host's own list of names (`/etc/hosts`) says of one, in lower case and without the last dot; nothing where it has none. */
export type HostsFile = (name: string) => Promise<readonly string[]>;

/** Read again only when it was changed: some lists that block advertising are megabytes. */
export function createHostsFile(path = '/etc/hosts'): HostsFile {
  let [version, names] = ['', new Map<string, readonly string[]>()];
  return async (name) => {
    try {
      const { mtimeMs, size } = await stat(path);
      if (version !== `${mtimeMs}:${size}`) [version, names] = [`${mtimeMs}:${size}`, parse(await readFile(path, 'utf8'))];
    } catch {
      return []; // there is none
    }
    return names.get(name) ?? [];
  };
}

function parse(text: string): Map<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    if (address === undefined) continue;
    for (const name of names) found.set(name, [...(found.get(name) ?? []), address]);
  }
  return found;
}
