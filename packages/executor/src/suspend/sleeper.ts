import { setTimeout as delay } from 'node:timers/promises';
import { BUSY, type SleepAnswer } from '@tendon/protocol/executor-api';
import type { Effects } from '../effects/effects.ts';
import type { PidNamespace } from '../processes/pid-namespace.ts';
import { reasonOf } from '../action-handler.ts';
import type { Plugins } from '../plugins/open-plugins.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import { descendants, processText } from '../processes/process-tree.ts';
import { forgetSession, saveSession, sleepFolder, saveFolders } from './saved-session.ts';

export interface SleepParts {
  readonly stateDir: string;
  /** Folders whose content ends with this executor. */
  readonly volatileFolders: readonly string[];
  readonly effects: Effects;
  readonly shell: Promise<ShellTools>;
  readonly makingPidNamespace: Promise<PidNamespace>;
  readonly plugins: Pick<Plugins, 'sleeping'>;
}

export interface SleepWish {
  /** Also when a plugin loses something by it, as a kernel its variables. */
  readonly withKernel: boolean;
  /** Whether who asked still waits for the answer. */
  readonly isWanted?: () => boolean;
  /** Ends in any case: what can be kept is. */
  readonly isLast?: boolean;
}

const FREE_EVERY_MS = 20;
/** Longer than a shell is waited for that does not take a command up: then there is another. */
const FREE_DEADLINE_MS = 45_000;

/**
 * Writes down what the next executor needs to go on as if nothing had been. Only when nothing would be lost by the end of this one:
 * nothing runs but the shell. From its beginning on no action starts here; when it comes to nothing they may again, in a shell that
 * is free. Of several wishes one is looked at after the other.
 */
export function createSleeper(parts: SleepParts): (wish: SleepWish) => Promise<SleepAnswer> {
  const { effects, stateDir } = parts;

  async function whyAwake({ withKernel }: SleepWish): Promise<string | undefined> {
    if (effects.running > 0) return BUSY.action;
    const [pidNamespace, shell] = [await parts.makingPidNamespace, await parts.shell];
    if (!pidNamespace.nested) return 'what runs here cannot be told from what does not';
    if (shell.isBusy()) return BUSY.command;
    const plugins = parts.plugins.sleeping();
    const loss = withKernel ? undefined : plugins.map(({ loses }) => loses()).find((each) => each !== undefined);
    if (loss !== undefined) return loss;
    const own = [...pidNamespace.processes(), ...shell.processes(), ...plugins.flatMap(({ processes }) => processes())];
    const [other] = descendants(new Set(own));
    return other === undefined ? undefined : `${processText(other.pid)} runs`;
  }

  async function save(wish: SleepWish): Promise<void> {
    const saved = await (await parts.shell).snapshot();
    if (saved === undefined) throw new Error('the shell does not answer');
    try {
      await saveFolders(parts.volatileFolders, sleepFolder(stateDir));
    } catch (error) {
      if (wish.isLast !== true) throw error;
    }
    const notes = Object.fromEntries(parts.plugins.sleeping().map(({ name, note }) => [name, note()]));
    await saveSession(stateDir, { ...saved, notes });
  }

  /** A shell that was too slow to tell its state is still at it: an action would find it busy with what nobody asked for. */
  async function untilFree(): Promise<void> {
    const shell = await parts.shell.catch(() => undefined);
    for (const end = performance.now() + FREE_DEADLINE_MS; shell?.isBusy() === true && performance.now() < end;) await delay(FREE_EVERY_MS);
  }

  async function fallAsleep(wish: SleepWish): Promise<SleepAnswer> {
    effects.hold('the sandbox goes to sleep');
    let isShellOurs = false;
    try {
      const reason = wish.isLast ? undefined : await whyAwake(wish);
      if (reason !== undefined) throw new Error(reason);
      isShellOurs = true;
      await save(wish);
      // Something of the agent's may have started by itself meanwhile.
      const late = wish.isLast ? undefined : await whyAwake(wish);
      if (late !== undefined) throw new Error(late);
      if (wish.isWanted?.() === false) throw new Error('who asked for it is gone');
      return { slept: true };
    } catch (error) {
      if (isShellOurs && wish.isLast !== true) await untilFree();
      if (wish.isLast !== true) forgetSession(stateDir);
      effects.hold(undefined);
      return { slept: false, reason: reasonOf(error) };
    }
  }

  let last: Promise<unknown> = Promise.resolve();
  return (wish) => {
    const answer = last.then(() => fallAsleep(wish));
    last = answer;
    return answer;
  };
}
