import type { ShellAfter } from './foreground/foreground.ts';

/** Words for the model beside a command's output: they go into `metadata.prefix` and `metadata.suffix`, never into the output. */

const CHOICES =
  "send an empty command '' to wait for more output, send text to answer a prompt, send a key (C-c, C-z, C-d; Escape, Enter, Up) to interrupt or steer it (all with is_input true), or give a longer timeout next time";
const STRONGER = ' It did not obey C-c; the key C-\\ asks it more firmly.';

export const PREVIOUS_OUTPUT = '[New output of the command that was still running:]\n';

export function completed(exitCode: number, interrupted: boolean): string {
  return `\n[${interrupted ? 'Interrupted by C-c: the' : 'The'} command ended with exit code ${exitCode}.]`;
}

/** Of a time in which a person had the terminal. */
export function gaveBack(end: 'given back' | 'left' | 'cancelled', isLeftRunning: boolean): string {
  const how = { 'given back': 'gave it back', left: 'left without giving it back', cancelled: 'had it until it was stopped' }[end];
  const rest = isLeftRunning ? ` What they started last is still running in it: ${CHOICES}.` : '';
  return `\n[The user had this terminal and ${how}.${rest} Its folder and variables may have changed.]`;
}

const REFUSED = /Read-only file system|Device or resource busy|Is a directory/;

/** What git says when a folder cannot be made set-group-id. */
const UNSHARED = /^fatal: Could not make .+ writable by group$|^error: unable to create temporary file: Operation not permitted$/m;
const NOT_SHARED =
  "\n[Nothing can be made set-group-id in this sandbox, also no folder, so git cannot share a repository with a group. In one that is shared already (core.sharedRepository), git works as 'git -c core.sharedRepository=umask …'; the user then gives the group its rights again.]";

/** Of a command that says it could not change something: names what is read-only, or what git cannot have. */
export function ranInto(content: string, readOnly: readonly string[]): string {
  if (UNSHARED.test(content)) return NOT_SHARED;
  const path = REFUSED.test(content) ? readOnly.find((each) => content.includes(each)) : undefined;
  if (path === undefined) return '';
  const instead = path.endsWith('/config') ? ' "git config --global" sets it for you alone.' : '';
  return `\n[${path} is read-only in this sandbox, since the user's own tools run or obey what is there.${instead} Only the operator of the server can open it (SANDBOX_PROTECTED_PATHS).]`;
}

const NEW_SHELL = 'a new one was started in the same folder with the same exported variables';

/** Of a command whose shell had to be replaced. */
export const SHELL_REPLACED: Readonly<Record<Exclude<ShellAfter, 'same'>, (exitCode: number) => string>> = {
  ended: (exitCode) => `\n[The command ended with exit code ${exitCode}. It ended the shell; ${NEW_SHELL}.]`,
  broken: (exitCode) => `\n[The command ${exitCodeOf(exitCode)}. It left the shell unable to run commands; ${NEW_SHELL}.]`,
  deaf: () => `\n[Not executed: an earlier command had left the shell unable to run commands. Now ${NEW_SHELL}; run it again.]`,
};

function exitCodeOf(exitCode: number): string {
  return exitCode < 0 ? 'ended; its exit code is not known' : `ended with exit code ${exitCode}`;
}

export function noNewOutput(seconds: number, wasInterrupted: boolean): string {
  return `\n[Nothing new was printed for ${seconds} seconds; the command is still running.${wasInterrupted ? STRONGER : ''} You can ${CHOICES}.]`;
}

export function timedOut(seconds: number, { interrupted, awaitsInput }: { interrupted: boolean; awaitsInput: boolean }): string {
  const waits = awaitsInput ? ' and waits for input' : '';
  return `\n[The time of ${seconds} seconds is over; the command is still running${waits}.${interrupted ? STRONGER : ''} You can ${CHOICES}.]`;
}

export function waitsForInput(): string {
  return `\n[The command prints nothing and waits for input. You can ${CHOICES}.]`;
}

export function notExecuted(command: string): string {
  const shown = command.length > 200 ? `${command.slice(0, 200)}…` : command;
  return `\n[Not executed: "${shown}". An earlier command is still running, and only one can run at a time. You can ${CHOICES}.]`;
}

export function cancelled(exitCode: number, shellDied: boolean): string {
  const shell = shellDied ? ' The shell had to be restarted.' : '';
  return `\n[The command was cancelled and ended with exit code ${exitCode}.${shell}]`;
}

export const neverStarted = '\n[The command was cancelled before it started.]';

export function couldNotCancel(): string {
  return '\n[The command was cancelled, but it does not end.]';
}

export const sentWhileWaiting = '\n[Sent to the running command; its output comes with the action that waits for it.]';

/** Output that nobody had seen when the command before this one ended. */
export function unseenOutput(text: string, exitCode: number): string {
  return `[The previous command ended with exit code ${exitCode} meanwhile. Its last output:]\n${text}\n[End of it.]\n`;
}

export const NOTHING_TO_INTERACT_WITH = 'ERROR: No command is running that could take input.';
export const NOTHING_TO_RETRIEVE = 'ERROR: No command is running, and everything it printed has been shown.';

export function stopped(why: 'timeout' | 'cancelled', seconds: number): string {
  return why === 'timeout'
    ? `\n[The command was killed: it did not end within ${seconds} seconds.]`
    : '\n[The command was cancelled and killed.]';
}
