import { join } from 'node:path';
import { readPlainJson } from '../platform/read-plain-file.ts';
import { parseHookFile, type ConfiguredHook, type HookPlace } from './hook-file.ts';
import { installedPlugins } from './installed-plugins.ts';

const MAX_BYTES = 1024 * 1024;

export interface InstalledHooks {
  readonly hooks: readonly ConfiguredHook[];
  /** One sentence for each file whose hooks do not count. */
  readonly problems: readonly string[];
  /** One sentence for each other part of a plugin that does not count. */
  readonly pluginProblems: readonly string[];
}

/** Those of the server's user, `hooks.json` in the home, then those of the enabled plugins. Never rejects. */
export async function installedHooks(home: string): Promise<InstalledHooks> {
  const own = await readHookFile(join(home, 'hooks.json'), { folder: home, env: {} });
  const installed = await installedPlugins(home);
  const plugins = installed.plugins.filter(({ isEnabled }) => isEnabled);
  const problemsOf = (areRead: boolean) => plugins.flatMap(({ areHooksRead, problems }) => (areHooksRead === areRead ? problems : []));
  return {
    hooks: [...own.hooks, ...plugins.flatMap(({ hooks }) => hooks)],
    problems: [...own.problems, ...installed.problems, ...problemsOf(false)],
    pluginProblems: problemsOf(true),
  };
}

async function readHookFile(path: string, place: HookPlace): Promise<Pick<InstalledHooks, 'hooks' | 'problems'>> {
  try {
    return { hooks: parseHookFile(await readPlainJson(path, MAX_BYTES), place), problems: [] };
  } catch (error) {
    const { cause, message } = error as Error;
    const isMissing = (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    return { hooks: [], problems: isMissing ? [] : [`The hooks of ${path} do not count: ${message}. See tendon hooks.`] };
  }
}
