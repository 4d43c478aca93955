import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isSystemFolder, isWithin, readFiledConfig, type Config } from '@tendon/server/headless';

export type RunConfigResult =
  | { readonly ok: true; readonly config: Config; readonly notices: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The configuration of one run. The agent works in WORKSPACE_BASE, else in `cwd`; but never by default in a folder that holds everything
 * (the home folder, the root, a folder of the system, or Tendon's own memory): then in a fresh one.
 */
export async function readRunConfig(env: NodeJS.ProcessEnv, cwd: string): Promise<RunConfigResult> {
  const read = await readFiledConfig({ LOG_LEVEL: 'error', ...env });
  return read.ok ? inFolder(read.config, cwd, read.notices) : read;
}

function inFolder(config: Config, cwd: string, notices: readonly string[]): RunConfigResult {
  if (config.workspaceBase !== undefined) {
    if (isFolder(config.workspaceBase)) return { ok: true, config, notices };
    return { ok: false, problems: [`${config.workspaceBase} is not a folder. Make it first, or name another one with --workspace.`] };
  }
  const isInHome = isWithin(real(cwd), real(config.home)) && !isWithin(real(cwd), join(real(config.home), 'workspaces'));
  if (isSystemFolder(real(cwd)) || isInHome || [homedir(), config.home].some((path) => isWithin(real(path), real(cwd)))) {
    return {
      ok: true,
      config,
      notices: [...notices, `${cwd} holds more than a project, so the agent gets a fresh folder. Name one with --workspace.`],
    };
  }
  return { ok: true, config: { ...config, workspaceBase: cwd }, notices };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
