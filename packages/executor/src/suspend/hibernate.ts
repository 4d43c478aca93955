import { setTimeout as delay } from 'node:timers/promises';
import { BUSY, type SuspendAnswer } from '@tendon/protocol/executor-api';
import type { Effects } from '../effects/effects.ts';
import type { PidNamespace } from '../processes/pid-namespace.ts';
import { reasonOf } from '../action-handler.ts';
import type { Plugins } from '../plugins/open-plugins.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import { allProcesses, descendants, processText } from '../processes/process-tree.ts';
import { forgetSession, saveSession, hibernationFolder, saveFolders } from './saved-session.ts';

export interface HibernateParts {
  readonly stateDir: string;
  /** Nobody's processes are there but the first one, ours and the agent's. */
  readonly isAlone: boolean;
  /** Folders whose content ends with this executor. */
  readonly volatileFolders: readonly string[];
  readonly effects: Effects;
  readonly shell: Promise<ShellTools>;
  readonly makingPidNamespace: Promise<PidNamespace>;
  readonly plugins: Pick<Plugins, 'hibernating'>;
}

export interface HibernateOptions {
  /** Also when a plugin loses something by it, as a kernel its variables. */
  readonly withKernel: boolean;
  /** Whether the client still waits for the answer. */
  readonly isWanted?: () => boolean;
  /** Ends in any case, with as much stored as can be. */
  readonly isLast?: boolean;
}

const FREE_EVERY_MS = 20;
/** Where no namespace holds what the agent started: all that runs at the place. */
function othersThan(own: ReadonlySet<number>): readonly { readonly pid: number }[] {
  return allProcesses().flatMap((pid) => (own.has(pid) ? [] : [{ pid }]));
}

/** Longer than a shell is waited for that does not take a command up: then there is another. */
const FREE_DEADLINE_MS = 45_000;

/**
 * Returns the function that stores what the next executor needs to continue where this one ends. It refuses when the end of this one
 * would lose anything, that is, when more than the shell runs. No action starts while it works; after a refusal actions start again,
 * in a shell that is free. It handles one request after the other.
 */
export function createHibernate(parts: HibernateParts): (request: HibernateOptions) => Promise<SuspendAnswer> {
  const { effects, stateDir } = parts;

  async function whyBusy({ withKernel }: HibernateOptions): Promise<string | undefined> {
    if (effects.running > 0) return BUSY.action;
    const [pidNamespace, shell] = [await parts.makingPidNamespace, await parts.shell];
    if (!pidNamespace.nested && !parts.isAlone) return 'what the agent runs cannot be distinguished here';
    if (shell.isBusy()) return BUSY.command;
    const plugins = parts.plugins.hibernating();
    const loss = withKernel ? undefined : plugins.map(({ loses }) => loses()).find((each) => each !== undefined);
    if (loss !== undefined) return loss;
    const own = [...pidNamespace.processes(), ...shell.processes(), ...plugins.flatMap(({ processes }) => processes())];
    const [other] = pidNamespace.nested ? descendants(new Set(own)) : othersThan(new Set([1, process.pid, ...own]));
    return other === undefined ? undefined : `${processText(other.pid)} runs`;
  }

  async function save(request: HibernateOptions): Promise<void> {
    const saved = await (await parts.shell).snapshot();
    if (saved === undefined) throw new Error('the shell does not answer');
    try {
      await saveFolders(parts.volatileFolders, hibernationFolder(stateDir));
    } catch (error) {
      if (request.isLast !== true) throw error;
    }
    const notes = Object.fromEntries(parts.plugins.hibernating().map(({ name, note }) => [name, note()]));
    await saveSession(stateDir, { ...saved, notes });
  }

  /** A shell that was too slow to report its state still works on that: an action would find it busy with what nobody asked for. */
  async function untilFree(): Promise<void> {
    const shell = await parts.shell.catch(() => undefined);
    for (const end = performance.now() + FREE_DEADLINE_MS; shell?.isBusy() === true && performance.now() < end;) await delay(FREE_EVERY_MS);
  }

  async function hibernate(request: HibernateOptions): Promise<SuspendAnswer> {
    effects.hold('the sandbox is being hibernated');
    let isShellOurs = false;
    try {
      const reason = request.isLast ? undefined : await whyBusy(request);
      if (reason !== undefined) throw new Error(reason);
      isShellOurs = true;
      await save(request);
      // Something of the agent's may have started by itself meanwhile.
      const late = request.isLast ? undefined : await whyBusy(request);
      if (late !== undefined) throw new Error(late);
      if (request.isWanted?.() === false) throw new Error('the client that asked for it is gone');
      return { slept: true };
    } catch (error) {
      if (isShellOurs && request.isLast !== true) await untilFree();
      if (request.isLast !== true) forgetSession(stateDir);
      effects.hold(undefined);
      return { slept: false, reason: reasonOf(error) };
    }
  }

  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = last.then(() => hibernate(request));
    last = answer;
    return answer;
  };
}
