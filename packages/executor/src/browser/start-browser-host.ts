import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HostConfig } from '@tendon/protocol/executor-api';
import type { ShellTools } from '../shell/shell-tools.ts';
import type { BesideOptions } from '../shell/spawn-beside.ts';
import type { BrowserHost } from './browser-host.ts';
import { connectBrowserHost } from './connect-browser-host.ts';
import { findChromium } from './host/find-chromium.ts';
import { spawnBrowserHost } from './spawn-browser-host.ts';

export interface BrowserPlaces extends Pick<ShellTools, 'beside' | 'besideForChromium'> {
  readonly env: BesideOptions['env'];
  /** Of the server, where it offers a browser beside the sandbox. */
  readonly socketPath: string | undefined;
}

/**
 * With the sandbox's own Chromium, which may have been installed meanwhile; else beside it, where the server offers that. One that the
 * agent may have put there runs where the agent's programs do, and cannot make a sandbox of its own.
 */
export async function startBrowserHost(places: BrowserPlaces, config: HostConfig): Promise<BrowserHost> {
  const { beside, besideForChromium, env, socketPath } = places;
  const chromium = findChromium(env);
  if (chromium !== undefined && !isOfAgent(chromium))
    return spawnBrowserHost({ ...(await besideForChromium()), env }, { ...config, chromium });
  if (chromium !== undefined || socketPath === undefined || !existsSync(socketPath)) return spawnBrowserHost({ ...beside, env }, config);
  const { proxyUrl, startUrl } = config;
  return connectBrowserHost(socketPath, { ...(proxyUrl !== undefined && { proxyUrl }), ...(startUrl !== undefined && { startUrl }) });
}

/** Whether this user, who is the agent's too, could have changed the file or put another in its place. */
function isOfAgent(path: string): boolean {
  try {
    for (let each = realpathSync(path); ; each = dirname(each)) {
      if (isWritable(each)) return true;
      if (each === dirname(each)) return false;
    }
  } catch {
    return true; // it goes while it is looked at
  }
}

/** What is the user's own could be made writable. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EROFS' && statSync(path).uid === process.getuid?.();
  }
}
