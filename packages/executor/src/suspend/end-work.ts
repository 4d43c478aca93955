import { descendants, signalProcess } from '../processes/process-tree.ts';
import type { Effects } from '../effects/effects.ts';
import type { PidNamespace } from '../processes/pid-namespace.ts';
import type { Plugins } from '../plugins/open-plugins.ts';
import type { ShellTools } from '../shell/shell-tools.ts';

export interface WorkParts {
  readonly effects: Pick<Effects, 'cancelAll'>;
  readonly shell: Promise<Pick<ShellTools, 'processes'>>;
  readonly makingPidNamespace: Promise<PidNamespace>;
  readonly plugins: Pick<Plugins, 'hibernating'>;
}

/** What is started while others are killed is found by the next look. */
const ROUNDS = 20;

/** Ends what the agent has started, in the foreground and behind it. Its shell and its kernel stay, where they were. */
export async function endWork({ effects, shell, makingPidNamespace, plugins }: WorkParts): Promise<void> {
  effects.cancelAll();
  const [pidNamespace, tools] = [await makingPidNamespace, await shell];
  const own = new Set([
    ...pidNamespace.processes(),
    ...tools.processes(),
    ...plugins.hibernating().flatMap(({ processes }) => processes()),
  ]);
  for (let round = 0; round < ROUNDS; round += 1) {
    const others = descendants(own);
    if (others.length === 0) return;
    for (const { pid } of others) signalProcess(pid, 'SIGKILL');
  }
}
