import { readConfig, type Config } from './config.ts';
import { withConfigFile } from './with-config-file.ts';

export type FiledConfig =
  | { readonly ok: true; readonly config: Config; readonly env: NodeJS.ProcessEnv; readonly notices: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The configuration by `env` and the `config.toml` beneath it; a wrong value is named where it stands. Never throws. */
export async function readFiledConfig(env: NodeJS.ProcessEnv): Promise<FiledConfig> {
  const filed = await withConfigFile(env);
  if (!filed.ok) return filed;
  const read = readConfig(filed.env);
  if (read.ok) return { ok: true, config: read.config, env: { ...filed.env }, notices: filed.notices };
  const placed = (problem: string): string => {
    const [name = ''] = problem.split(/[.:]/, 1);
    return Object.hasOwn(filed.places, name) ? `${filed.places[name]}${problem.slice(name.length)}` : problem;
  };
  return { ok: false, problems: read.problems.map(placed) };
}
