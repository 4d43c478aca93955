import { homedir } from 'node:os';
import { isWithin } from '@tendon/runtime';
import type { Config } from './config/config.ts';
import type { Engine } from './engine.ts';

/** What a person wants to know of a server that just started, a line each. `generatedKey`: to be shown once, here. */
export function banner(url: string, config: Config, engine: Engine, generatedKey: string | undefined): string {
  const model = engine.defaultModel();
  const lines = [
    ['Tendon', url],
    ['model', model === 'demo' ? 'demo model: answers are scripted (set LLM_API_KEY or LLM_MODEL for a real one)' : model],
    ['sandbox', `${engine.sandbox.strength}: ${engine.sandbox.description}`],
    ['workspace', workspaceWords(config)],
    ...(generatedKey ? [['key', `${generatedKey} (the page asks for it; programs send it as X-Session-API-Key)`]] : []),
  ];
  return `${lines.map(([name, value]) => `${name!.padEnd(10)} ${value}`).join('\n')}\n`;
}

function workspaceWords({ runtime, executorHost, workspaceBase, home }: Config): string {
  if (runtime === 'remote') return `at ${executorHost?.url.host}, in a folder of each conversation or as tendon executor was told`;
  if (workspaceBase === undefined) return `${home}/workspaces/<conversation>`;
  const holdsMore = [homedir(), home].some((path) => isWithin(path, workspaceBase));
  return holdsMore ? `${workspaceBase} (more than a project: agents can read and change all of it)` : workspaceBase;
}
