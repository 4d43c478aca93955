import { Diagnostics } from '../diagnostics/diagnostics.ts';
import type { Plugin, PluginParts } from './plugin.ts';

/** What language servers say of edited files. It is started by edits alone. */
export function createDiagnosticsPlugin({ config, shell }: PluginParts): Plugin {
  const diagnostics = new Diagnostics({ workspace: config.folders.workspace, shell: () => shell });
  return {
    name: 'diagnostics',
    adds: {
      diagnostics,
      // A server holds nothing that is not in the files.
      hibernation: { loses: () => undefined, processes: () => diagnostics.processes(), note: () => null },
    },
    start: async () => ({ ok: true }),
    isReady: () => diagnostics.isUp(),
    stop: () => diagnostics.stop(),
  };
}
