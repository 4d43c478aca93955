import type { RunnableKind } from '@tendon/protocol';
import type { ExecutorConfig, PluginName, PluginStart } from '@tendon/protocol/executor-api';
import type { ActionHandler } from '../action-handler.ts';
import type { Diagnostics } from '../diagnostics/diagnostics.ts';
import type { ShellTools } from '../shell/shell-tools.ts';

/**
 * A part of the executor that a conversation may have or not. Making one starts nothing and loads nothing heavy: a sandbox that
 * does not use it pays nothing.
 */
export interface Plugin {
  readonly name: PluginName;
  readonly adds: PluginAdditions;
  /** Brings up what it needs; concurrent and repeated calls share that. Never rejects. */
  start(): Promise<PluginStart>;
  /** Whether what it needs is up now. */
  isReady(): boolean;
  /** Ends what it has started, at once. */
  stop(): void;
}

export interface PluginAdditions {
  /** Actions that it answers. */
  readonly handlers?: Partial<Readonly<Record<RunnableKind, ActionHandler>>>;
  /** What language servers report of edited files. */
  readonly diagnostics?: Pick<Diagnostics, 'afterEdit' | 'afterCommand'>;
  /** Python that runs in every new kernel before anything else. */
  readonly kernelCode?: string;
  /** Ports that it listens on for itself now: they can be reached, and are not offered as the agent's. */
  readonly ports?: () => readonly number[];
  /** How it hibernates. Without it, whatever the plugin runs keeps the sandbox from hibernating. */
  readonly hibernation?: PluginHibernation;
}

export interface PluginHibernation {
  /** What hibernating would lose, as in "a kernel keeps its variables". */
  loses(): string | undefined;
  /** Its own processes, in the executor's numbering: the agent's are not among them. */
  processes(): readonly number[];
  /** JSON for the plugin of the restored sandbox. */
  note(): unknown;
}

/** What a plugin is made with. */
export interface PluginParts {
  readonly config: ExecutorConfig;
  /** Its own note, from before the sandbox hibernated; not believed. */
  readonly note: unknown;
  readonly shell: Promise<ShellTools>;
  /** What all plugins of this executor add to a kernel. */
  readonly kernelCode: () => string;
}
