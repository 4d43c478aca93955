import { join } from 'node:path';
import { makeNamespace, NAMESPACES_OF_CHROMIUM, NO_NAMESPACES, type Namespace, type NamespaceOptions } from './make-namespace.ts';

/**
 * A namespace of processes for everything the agent starts: it cannot see the executor and cannot signal it, so
 * `pkill -9 -f node` and `kill -9 -1` end at most what runs beside them. Owns the namespace's first process, which reaps
 * orphans; the kernel ends the whole namespace with it.
 *
 * 1. The first process ends when its standard input does, so nothing outlives the executor, however that dies.
 * 2. The executor's own folders (its socket, its journal) are covered by empty ones, and the inside cannot uncover them.
 * 3. Where namespaces cannot be nested there is no prefix, and `nested` says so; nothing pretends.
 * 4. In a sandbox the inside can make no namespaces: in one of its own a program has powers over large parts of the kernel. Chromium,
 *    which needs some for its own sandbox, has a namespace of processes of its own, made when it is first asked for.
 */
export interface PidNamespace {
  readonly nested: boolean;
  /** Why not, when it is not. */
  readonly reason?: string;
  /** Whether what runs inside can make no namespaces of its own. */
  readonly isClosed: boolean;
  /** Put before a command that shall run inside. */
  readonly enter: readonly string[];
  /** The same for a Chromium that is none of the agent's. */
  enterForChromium(): Promise<readonly string[]>;
  /** Where the executor's terminals are for what runs inside; missing where they are at their usual place. */
  readonly terminals?: Terminals;
  /** Its own processes, in the executor's numbering. */
  processes(): readonly number[];
  close(): void;
}

/** Where terminals are for what runs in a namespace that has others at their usual place. */
export interface Terminals {
  /** As it is called inside. */
  readonly folder: string;
  /** The same folder for the executor: a terminal has a name for programs only where it was opened through their own mounts. */
  readonly reachedBy: string;
}

export type PidNamespaceOptions = Pick<NamespaceOptions, 'shell' | 'hidden' | 'stateDir'> &
  Partial<Pick<NamespaceOptions, 'tools' | 'terminals'>>;

export async function makePidNamespace(options: PidNamespaceOptions): Promise<PidNamespace> {
  const { shell, hidden, stateDir, tools, terminals } = options;
  const common = { shell, hidden, stateDir, tools, terminals };
  const made = await makeNamespace({ ...common, most: NO_NAMESPACES });
  if (typeof made === 'string') {
    const enter: readonly string[] = [];
    return {
      nested: false,
      reason: made,
      isClosed: false,
      enter,
      enterForChromium: async () => enter,
      processes: () => [],
      close: () => {},
    };
  }
  let forChromium: Namespace | undefined;
  let making: Promise<void> | undefined;
  let hasEnded = false;

  /** One that cannot be had a second time: Chromium then runs with the agent's programs, and without a sandbox of its own. */
  async function makeForChromium(): Promise<void> {
    const other = await makeNamespace({ ...common, most: NAMESPACES_OF_CHROMIUM });
    if (typeof other === 'string') return;
    if (hasEnded) other.close();
    forChromium = other;
  }

  return {
    nested: true,
    isClosed: made.isClosed,
    enter: made.enter,
    async enterForChromium() {
      if (made.isClosed) await (making ??= makeForChromium());
      return (forChromium ?? made).enter;
    },
    ...(terminals !== undefined && { terminals: { folder: terminals, reachedBy: join(`/proc/${made.first}/root`, terminals) } }),
    processes: () => [...made.processes, ...(forChromium?.processes ?? [])],
    close() {
      hasEnded = true;
      made.close();
      forChromium?.close();
    },
  };
}
