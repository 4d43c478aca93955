import type { Secret } from '@tendon/core';
import type { HostInfo } from '@tendon/runtime';
import type { Config } from '@tendon/server/platform';

/** What a person wants to know of a host that just started, and how a server is pointed at it. `madeKey`: to be shown once, here. */
export function hostBanner(url: string, config: Config, sandbox: HostInfo['sandbox'], madeKey: Secret | undefined): string {
  const lines = [
    ['Executor', url],
    ['sandbox', `${sandbox.strength}: ${sandbox.description}`],
    ['workspace', config.workspaceBase ?? `${config.home}/executor/workspaces/<conversation>`],
    ...(madeKey ? [['key', `${madeKey.reveal()} (stored in ${config.home}/executor/key)`]] : []),
    ['servers', `RUNTIME=remote SANDBOX_REMOTE_RUNTIME_API_URL=${url} SANDBOX_API_KEY=… tendon serve`],
  ];
  return `${lines.map(([name, value]) => `${name!.padEnd(10)} ${value}`).join('\n')}\n`;
}
