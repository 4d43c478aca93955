import type { RunnableKind } from '@tendon/protocol';
import { PLUGIN_NAMES, type PluginName } from '@tendon/protocol/executor-api';
import type { ActionHandler } from '../action-handler.ts';
import { createAgentSkills } from './agent-skills.ts';
import { createBrowserPlugin } from './browser-plugin.ts';
import { createDiagnosticsPlugin } from './diagnostics-plugin.ts';
import { createEditorPlugin } from './editor-plugin.ts';
import { createJupyterPlugin } from './jupyter-plugin.ts';
import type { Plugin, PluginAdditions, PluginParts, PluginHibernation } from './plugin.ts';

/** A new plugin is a file and a line here. */
const PLUGINS = {
  jupyter: createJupyterPlugin,
  browser: createBrowserPlugin,
  agent_skills: createAgentSkills,
  vscode: createEditorPlugin,
  diagnostics: createDiagnosticsPlugin,
} satisfies Record<PluginName, (parts: PluginParts) => Plugin>;

/** The plugins of one executor. */
export interface Plugins {
  readonly handlers: Partial<Readonly<Record<RunnableKind, ActionHandler>>>;
  readonly diagnostics: PluginAdditions['diagnostics'];
  find(name: string): Plugin | undefined;
  /** What they listen on for themselves. */
  ports(): readonly number[];
  /** By name, whether each is up. */
  states(): Readonly<Record<string, { readonly ready: boolean }>>;
  /** Of those that can hibernate, how. */
  hibernating(): readonly (PluginHibernation & { readonly name: string })[];
  stop(): void;
}

export interface OpenPluginsOptions extends Pick<PluginParts, 'config' | 'shell'> {
  /** Left by the plugins of the hibernated sandbox. */
  readonly notes: Readonly<Record<string, unknown>>;
}

/** Those that `config.plugins` names, or all. */
export function openPlugins({ config, shell, notes }: OpenPluginsOptions): Plugins {
  const kernelCode = (): string => opened.flatMap(({ adds }) => adds.kernelCode ?? []).join('\n');
  const opened: readonly Plugin[] = (config.plugins ?? PLUGIN_NAMES).map((name) =>
    PLUGINS[name]({ config, shell, kernelCode, note: notes[name] }),
  );
  return {
    handlers: Object.assign({}, ...opened.map(({ adds }) => adds.handlers)) as Plugins['handlers'],
    diagnostics: opened.find(({ adds }) => adds.diagnostics)?.adds.diagnostics,
    find: (wanted) => opened.find(({ name }) => name === wanted),
    ports: () => opened.flatMap(({ adds }) => adds.ports?.() ?? []),
    states: () => Object.fromEntries(opened.map((plugin) => [plugin.name, { ready: plugin.isReady() }])),
    hibernating: () => opened.flatMap(({ name, adds }) => (adds.hibernation ? [{ name, ...adds.hibernation }] : [])),
    stop() {
      for (const plugin of opened) plugin.stop();
    },
  };
}
