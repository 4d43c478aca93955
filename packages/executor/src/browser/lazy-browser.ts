import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import { reasonOf } from '../action-handler.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import type { BrowserTool } from './browser-tool.ts';

const IDLE_SECONDS = 300;
/** May name the Chromium to use; see `find-chromium.ts`. */
const CHROMIUM_VARIABLES = ['CHROMIUM_PATH', 'CHROME_PATH', 'CHROME'];

export interface LazyBrowser extends Pick<BrowserTool, 'browse' | 'browseInteractive' | 'isUp' | 'close'> {
  /** Starts the browser ahead of the first action; rejects with why there is none. */
  warm(): Promise<void>;
}

/** `browse` and `browse_interactive`, of which nothing is loaded and nothing made before the first action. */
export function createLazyBrowser(config: ExecutorConfig, shell: Promise<ShellTools>): LazyBrowser {
  let tool: BrowserTool | undefined;
  let loading: Promise<BrowserTool> | undefined;
  let profile: string | undefined;

  async function load(): Promise<BrowserTool> {
    const [{ detached, detachedForChromium }, { BrowserTool: Tool }, { startBrowserHost }] = await Promise.all([
      shell,
      import('./browser-tool.ts'),
      import('./start-browser-host.ts'),
    ]);
    // On disk and not in /tmp, which is memory; of this executor alone, since the home may be a person's.
    profile = join(detached.env.HOME ?? '/tmp', '.cache/tendon/browser', config.incarnation);
    mkdirSync(profile, { recursive: true, mode: 0o700 });
    const named = CHROMIUM_VARIABLES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    const env = { ...detached.env, ...Object.fromEntries(named), DBUS_SESSION_BUS_ADDRESS: 'disabled:' };
    const places = { detached, detachedForChromium, env, socketPath: config.network?.browserSocketPath };
    const { http_proxy: proxyUrl } = detached.env;
    const host = { workspace: config.folders.workspace, profile, ...(proxyUrl !== undefined && { proxyUrl }) };
    tool = new Tool({
      startHost: (startUrl) => startBrowserHost(places, { ...host, ...(startUrl !== undefined && { startUrl }) }),
      idleMs: (config.limits.browserIdleSeconds ?? IDLE_SECONDS) * 1000,
    });
    return tool;
  }

  async function loaded(): Promise<BrowserTool> {
    loading ??= load();
    loading.catch(() => (loading = undefined));
    return loading;
  }

  return {
    browse: async (request, context) => (await loaded()).browse(request, context),
    browseInteractive: async (request, context) => (await loaded()).browseInteractive(request, context),
    warm: async () => (await loaded()).warm(),
    isUp: () => tool?.isUp() === true,
    close() {
      tool?.close();
      if (profile !== undefined) removeProfile(profile);
    },
  };
}

/** What was killed a moment ago may still write there. What stays is in the sandbox's home and goes with it. */
function removeProfile(profile: string): void {
  try {
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  } catch (error) {
    process.stderr.write(`browser: ${reasonOf(error)}\n`);
  }
}
