import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Build, Subject } from './row.ts';
import type { Target } from './target.ts';

const main = fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url));
/** Each run another, so that two runs of one machine do not meet. */
const port = 31_000 + (process.pid % 1000);

/** The server and the command line that were built here. */
export function tendon(home: string, modelUrl: string): Subject {
  if (!existsSync(main)) throw new Error('build first: npm run build');
  const model = { LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'benchmark-key', LLM_BASE_URL: modelUrl };
  const build: Build = { server };
  return {
    name: 'Tendon',
    target: server(join(home, 'server'), {}),
    command: { text: `${process.execPath} ${main} run {task}`, env: { ...model, TENDON_HOME: join(home, 'cli') } },
    build,
  };
}

function server(home: string, env: NodeJS.ProcessEnv): Target {
  return {
    name: 'Tendon',
    url: `http://127.0.0.1:${port}`,
    command: `${process.execPath} ${main} serve`,
    home,
    env: { PORT: String(port), TENDON_HOME: home, ...env },
  };
}

/** Servers and command lines of others, from `--peer NAME=URL`, `--start NAME='COMMAND'` and `--cli NAME='COMMAND {task}'`. */
export function peers(
  options: { readonly peer: readonly string[]; readonly start: readonly string[]; readonly cli: readonly string[] },
  modelUrl: string,
): readonly Subject[] {
  const starts = named(options.start);
  const servers = named(options.peer);
  const commands = named(options.cli);
  const env = { OPENAI_API_KEY: 'benchmark-key', OPENAI_BASE_URL: modelUrl, LLM_BASE_URL: modelUrl };
  return [...new Set([...servers.keys(), ...commands.keys()])].map((name) => {
    const url = servers.get(name);
    const text = commands.get(name);
    return {
      name,
      ...(url && { target: { name, url, command: starts.get(name) } }),
      ...(text && { command: { text, env } }),
    };
  });
}

function named(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
