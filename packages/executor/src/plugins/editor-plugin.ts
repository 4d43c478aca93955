import type { PluginStart } from '@tendon/protocol/executor-api';
import type { EditorProcess } from '../editor/editor-process.ts';
import { reasonOf } from '../action-handler.ts';
import type { Plugin, PluginParts } from './plugin.ts';

/** An editor in the browser, where the sandbox has one. It starts when somebody wants to see it, and again after it has ended. */
export function createEditorPlugin({ config, shell }: PluginParts): Plugin {
  let editor: EditorProcess | undefined;
  let starting: Promise<PluginStart> | undefined;
  let isUp = false;

  async function open(): Promise<PluginStart> {
    const [tools, { spawnEditor, untilAnswering }] = await Promise.all([shell, import('../editor/editor-process.ts')]);
    const opened = await spawnEditor(tools, config.folders.workspace);
    editor = opened;
    void opened.ended.then(forget);
    const failure = await untilAnswering(opened);
    if (failure !== undefined) return { ok: false, reason: failure };
    isUp = true;
    return { ok: true, page: { port: opened.port, path: opened.path } };
  }

  function forget(): void {
    editor = undefined;
    starting = undefined;
    isUp = false;
  }

  return {
    name: 'vscode',
    adds: { ports: () => (editor === undefined ? [] : [editor.port]) },
    async start() {
      starting ??= open().catch((error: unknown) => ({ ok: false, reason: reasonOf(error) }));
      const result = await starting;
      if (!result.ok) starting = undefined;
      return result;
    },
    isReady: () => isUp,
    stop: () => editor?.stop(),
  };
}
