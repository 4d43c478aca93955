import { existsSync } from 'node:fs';
import type { BesideOptions } from '../shell/spawn-beside.ts';
import type { BrowserHost } from './browser-host.ts';
import type { HostConfig } from './browser-lines.ts';
import { connectBrowserHost } from './connect-browser-host.ts';
import { findChromium } from './host/find-chromium.ts';
import { spawnBrowserHost } from './spawn-browser-host.ts';

/** With the sandbox's own Chromium, which may have been installed meanwhile; else beside it, where the server offers that. */
export function startBrowserHost(beside: BesideOptions, config: HostConfig, socketPath: string | undefined): BrowserHost {
  const isBeside = socketPath !== undefined && existsSync(socketPath) && findChromium(beside.env) === undefined;
  if (!isBeside) return spawnBrowserHost(beside, config);
  const { proxyUrl, startUrl } = config;
  return connectBrowserHost(socketPath, { ...(proxyUrl !== undefined && { proxyUrl }), ...(startUrl !== undefined && { startUrl }) });
}
