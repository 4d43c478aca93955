import { setTimeout as delay } from 'node:timers/promises';
import type { ForegroundCommand } from './foreground/foreground.ts';
import type { ShellProcess } from './shell-process.ts';

/**
 * Looks at a shell from outside while its command is silent. What a command did to its shell is found here when the shell
 * cannot report any more: it was stopped, another shell took its place, or it sits at its prompt as if there had been no command.
 */
export interface ShellWatch {
  /** Of a shell that has nothing to do, before it is given anything: learns how it looks at its prompt. */
  learn(): void;
  /** Resolves when it is there, or its time to get there is over. */
  arrived(): Promise<void>;
  /** It sits there now: what it waits for is its next command, and no input of the one that runs. */
  isAtPrompt(): boolean;
  /** Another program is the shell now. */
  forget(): void;
  start(running: ForegroundCommand): void;
  stop(): void;
}

export interface ShellFindings {
  /** There may be another bash at its prompt, inside this one or in its place. */
  onQuiet(): void;
  /** The command is over, and the shell did not say so: what frames commands is broken. */
  onLost(): void;
  /** False while the sandbox is suspended: what is seen then means nothing, and nothing may be continued. */
  mayLook(): boolean;
}

const QUIET_MS = 200;
const LOOK_EVERY_MS = 250;
const LOOK_SELDOM_MS = 2000;
const LOOKS_BEFORE_SELDOM = 40;
const SIGHTINGS = 3;
const LEARN_AFTER_MS = 50;
const ARRIVE_EVERY_MS = 5;
const ARRIVE_MS = 100;
/** The first time; where `/proc` does not show it, no later command waits. */
const FIRST_ARRIVE_MS = 500;

export function createShellWatch(shell: () => ShellProcess | undefined, findings: ShellFindings): ShellWatch {
  let atPrompt: string | undefined; // the read that blocks it there
  let hasWaited = false;
  let switches: number | undefined; // how often it had blocked before it was given work
  let timer: NodeJS.Timeout | undefined;
  let looks = 0;
  let sightings = 0;

  function look(running: ForegroundCommand): void {
    if (!findings.mayLook()) return void (timer = setTimeout(look, LOOK_SELDOM_MS, running));
    const found = shell();
    found?.resume();
    if (performance.now() - running.lastOutputAt >= QUIET_MS) findings.onQuiet();
    // One that has not woken up since it was given work has not taken it yet: on a busy machine that can last.
    sightings = isAtPrompt() && found?.voluntarySwitches() !== switches ? sightings + 1 : 0;
    if (sightings >= SIGHTINGS) return findings.onLost();
    looks += 1;
    timer = setTimeout(look, looks < LOOKS_BEFORE_SELDOM ? LOOK_EVERY_MS : LOOK_SELDOM_MS, running);
  }
  function isAtPrompt(): boolean {
    return atPrompt !== undefined && shell()?.ownRead() === atPrompt;
  }
  function learn(): void {
    atPrompt ??= shell()?.ownRead();
    switches = shell()?.voluntarySwitches();
  }

  return {
    learn,
    async arrived() {
      if (atPrompt === undefined && hasWaited) return;
      const timeoutMs = atPrompt === undefined ? FIRST_ARRIVE_MS : ARRIVE_MS;
      hasWaited = true;
      const isAway = (read: string | undefined): boolean => read === undefined || (atPrompt !== undefined && read !== atPrompt);
      for (let waited = 0; isAway(shell()?.ownRead()) && waited < timeoutMs; waited += ARRIVE_EVERY_MS) await delay(ARRIVE_EVERY_MS);
    },
    isAtPrompt,
    forget() {
      atPrompt = undefined;
      hasWaited = false;
    },
    start(running) {
      clearTimeout(timer);
      looks = 0;
      sightings = 0;
      timer = setTimeout(look, LOOK_EVERY_MS, running);
    },
    stop() {
      clearTimeout(timer);
      if (atPrompt === undefined) timer = setTimeout(learn, LEARN_AFTER_MS).unref();
    },
  };
}
