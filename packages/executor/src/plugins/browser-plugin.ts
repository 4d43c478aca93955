import { createLazyBrowser } from '../browser/lazy-browser.ts';
import { reasonOf } from '../action-handler.ts';
import type { Plugin, PluginParts } from './plugin.ts';

/**
 * `browse` and `browse_interactive`. The browser comes up with the first action, or when the plugin is started ahead of it, and
 * ends some minutes after the last; until then it keeps the sandbox from hibernating.
 */
export function createBrowserPlugin({ config, shell }: PluginParts): Plugin {
  const browser = createLazyBrowser(config, shell);
  return {
    name: 'browser',
    adds: { handlers: { browse: browser.browse, browse_interactive: browser.browseInteractive } },
    start: () =>
      browser.warm().then(
        () => ({ ok: true }),
        (error: unknown) => ({ ok: false, reason: reasonOf(error) }),
      ),
    isReady: browser.isUp,
    stop: browser.close,
  };
}
