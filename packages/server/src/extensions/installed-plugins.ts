/** The plugins of the server's user: folders in `plugins` of the home, but for those that `plugins.json` disables. */
import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readPlainJson } from '../platform/read-plain-file.ts';
import { readPlugin, type Plugin } from './read-plugin.ts';

export interface InstalledPlugin extends Plugin {
  readonly isEnabled: boolean;
}

export interface InstalledPlugins {
  /** By the names of their folders. */
  readonly plugins: readonly InstalledPlugin[];
  /** What is wrong with all of them; each has its own problems. */
  readonly problems: readonly string[];
}

const DisabledFile = z.strictObject({ disabled: z.array(z.string()) });
const MAX_BYTES = 1024 * 1024;
const MAX_PLUGINS = 100;

/** Never rejects. */
export async function installedPlugins(home: string): Promise<InstalledPlugins> {
  const names = (await readdir(join(home, 'plugins')).catch(() => [])).filter((name) => !name.startsWith('.')).toSorted();
  if (names.length === 0) return { plugins: [], problems: [] };
  const problems: string[] = [];
  const disabled = await disabledPlugins(home).catch(({ message }: Error) => {
    problems.push(message);
    return names;
  });
  const read = await Promise.all(names.slice(0, MAX_PLUGINS).map((id) => readPlugin(home, id)));
  if (names.length > MAX_PLUGINS) problems.push(`Only the first ${MAX_PLUGINS} plugins count.`);
  const plugins = read.filter((plugin) => plugin !== undefined).map((plugin) => ({ ...plugin, isEnabled: !disabled.includes(plugin.id) }));
  return { plugins, problems };
}

export async function enabledPlugins(home: string): Promise<readonly Plugin[]> {
  return (await installedPlugins(home)).plugins.filter(({ isEnabled }) => isEnabled);
}

/** Counts for conversations that are opened from now on; for hooks, from the next turn on. */
export async function enablePlugin(home: string, id: string, isEnabled: boolean): Promise<void> {
  const others = (await disabledPlugins(home)).filter((each) => each !== id);
  const path = join(home, 'plugins.json');
  await writeFile(`${path}.new`, `${JSON.stringify({ disabled: isEnabled ? others : [...others, id].toSorted() })}\n`);
  await rename(`${path}.new`, path);
}

/** The names of their folders. Rejects when the file is there and cannot be read: then nobody knows whose programs may run. */
async function disabledPlugins(home: string): Promise<readonly string[]> {
  const path = join(home, 'plugins.json');
  try {
    return DisabledFile.parse(await readPlainJson(path, MAX_BYTES)).disabled;
  } catch (error) {
    const { cause } = error as Error;
    if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return [];
    throw new Error(`${path} is not {"disabled": [names]}, so all plugins are disabled: correct or remove it.`, { cause: error });
  }
}
