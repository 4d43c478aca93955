import type { KernelEnd } from './kernel-process.ts';

/** Words for the model beside what a cell printed. The bracketed ones about folder, interpreter and silence are what models know. */

export const NO_OUTPUT = '[Code executed successfully with no output]';
export const NOTHING_TO_RETRIEVE = 'ERROR: No cell is running. An empty cell waits for one that was handed back.';
export const PREVIOUS_OUTPUT = '[Below is the output of the previous cell.]';

const CHOICES =
  'Run an empty cell to wait for more output; with a timeout it waits so many seconds and then interrupts the cell that runs.';

export function place(workingDir: string, interpreter: string): string {
  return `[Jupyter current working directory: ${workingDir}]\n[Jupyter Python interpreter: ${interpreter}]`;
}

export function noNewOutput(seconds: number): string {
  return `[The cell has no new output after ${seconds} seconds and is still running. ${CHOICES}]`;
}

export function notExecuted(): string {
  return `[This cell was not run: another one is still running. ${CHOICES}]`;
}

export function interrupted(why: 'timeout' | 'cancelled', seconds: number): string {
  return why === 'timeout'
    ? `[The cell was interrupted: it did not end within ${seconds} seconds.]`
    : '[The cell was cancelled and interrupted.]';
}

export function killed(why: 'timeout' | 'cancelled', seconds: number): string {
  const cause = why === 'timeout' ? `it did not end within ${seconds} seconds` : 'it was cancelled';
  return `[The kernel was killed: ${cause}, and it did not obey an interrupt. ${LOST}]`;
}

export function died({ code, signal }: KernelEnd): string {
  return `[The kernel has ended (${signal ?? `exit code ${code}`}). ${LOST}]`;
}

export function diedBefore({ code, signal }: KernelEnd): string {
  return `[The kernel had ended since the last cell (${signal ?? `exit code ${code}`}). This cell runs in a new one: earlier variables and imports are lost.]`;
}

export function hibernated(): string {
  return '[The sandbox was hibernated since the last cell. This cell runs in a new kernel: earlier variables and imports are lost.]';
}

export function initFailed(text: string): string {
  return `[The code that prepares every new kernel failed:\n${text}]`;
}

export function noPython(): string {
  return 'The cell was not executed: there is no Python here (neither `python` nor `python3` on PATH). Install Python 3, or use another tool.';
}

export function notInstalled(interpreter: string, reason: string): string {
  return `The cell was not executed: ${interpreter} has no package "ipykernel", and it could not be installed:
${reason}
Make it available with \`${interpreter} -m pip install ipykernel\` where the network allows it, or on the machine of the sandbox with \`apt-get install python3-ipykernel\`. Until then run Python in the shell.`;
}

export function notStarted(reason: string): string {
  return `The cell was not executed: the Jupyter kernel did not start: ${reason}`;
}

const LOST = 'Its variables and imports are lost; the next cell runs in a new one.';
