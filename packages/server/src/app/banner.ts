import { homedir } from 'node:os';
import { isWithin } from '@tendon/runtime';
import type { Config } from '../platform/config/config.ts';
import type { Engine } from './engine.ts';
import { isLoopbackBind } from '../platform/loopback.ts';

export interface BannerContent {
  readonly url: string;
  readonly config: Config;
  readonly engine: Pick<Engine, 'defaultModel' | 'sandbox'>;
  /** Shown once, here. */
  readonly generatedKey: string | undefined;
  readonly isRoot: boolean;
}

/** What a person wants to know of a server that just started, a line each. */
export function banner({ url, config, engine, generatedKey, isRoot }: BannerContent): string {
  const model = engine.defaultModel();
  const isLocal = isLoopbackBind(config.host);
  const lines = [
    ['Tendon', generatedKey && isLocal ? `${url}/?token=${generatedKey}` : url],
    ['model', model === 'demo' ? 'demo model: answers are scripted (set LLM_API_KEY or LLM_MODEL for a real one)' : model],
    ['sandbox', `${engine.sandbox.strength}: ${engine.sandbox.description}`],
    ['workspace', workspaceWords(config)],
    ...(generatedKey && !isLocal ? [['key', `${generatedKey} (the page asks for it; programs send it as X-Session-API-Key)`]] : []),
    ...(generatedKey && isLocal ? [['access', 'by this address; programs send its token as X-Session-API-Key']] : []),
    ...(config.sessionApiKey ? [] : [['access', keylessWords(isRoot)]]),
  ];
  return `${lines.map(([name, value]) => `${name!.padEnd(10)} ${value}`).join('\n')}\n`;
}

function keylessWords(isRoot: boolean): string {
  return isRoot
    ? 'no key, and this server is root: every user and program of this machine can read and change its workspaces, which may be root’s own files, and use its model keys and tokens (TENDON_LOCAL_TOKEN=1 asks for a token)'
    : 'no key: every user and program of this machine can use this server as you (TENDON_LOCAL_TOKEN=1 asks for a token)';
}

function workspaceWords({ runtime, executorHosts, workspaceBase, home }: Config): string {
  if (runtime === 'remote')
    return `at ${executorHosts.map(({ url }) => url.host).join(', ')}, in a folder of each conversation or as tendon executor was configured`;
  if (runtime === 'kubernetes') return 'in a volume of each conversation';
  if (workspaceBase === undefined) return `${home}/workspaces/<conversation>`;
  const holdsMore = [homedir(), home].some((path) => isWithin(path, workspaceBase));
  return holdsMore ? `${workspaceBase} (more than a project: agents can read and change all of it)` : workspaceBase;
}
