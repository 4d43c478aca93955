import { join } from 'node:path';
import { readPlainJson } from '../platform/read-plain-file.ts';
import { parseHookFile, type ConfiguredHook, type HookPlace } from './hook-file.ts';

const MAX_BYTES = 1024 * 1024;

export interface InstalledHooks {
  readonly hooks: readonly ConfiguredHook[];
  /** One sentence for each file that does not count. */
  readonly problems: readonly string[];
}

/** Those of the server's user: `hooks.json` in the home. Never rejects. */
export function installedHooks(home: string): Promise<InstalledHooks> {
  return readHookFile(join(home, 'hooks.json'), { folder: home, env: {} });
}

async function readHookFile(path: string, place: HookPlace): Promise<InstalledHooks> {
  try {
    return { hooks: parseHookFile(await readPlainJson(path, MAX_BYTES), place), problems: [] };
  } catch (error) {
    const { cause, message } = error as Error;
    const isMissing = (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    return { hooks: [], problems: isMissing ? [] : [`The hooks of ${path} do not count: ${message}. See tendon hooks.`] };
  }
}
