import { readdirSync } from 'node:fs';
import { blockedCall, type BlockedCall, inputsOfCall } from '../../processes/inputs-of-call.ts';
import { fileOf } from '../../processes/process-tree.ts';

/**
 * How processes wait for input from a terminal. `only`: nothing but input, a signal or its own children will wake it. `too`:
 * it may as well wait for the network, another program or a timer, as a prompt with a spinner does, and a server that takes keys.
 */
export type InputWait = 'only' | 'too';

/** `busy`: one of its threads runs just now. */
type ThreadWait = InputWait | 'busy' | undefined;

const DEVICE_OF_CALLER = '/dev/tty';
/** What programs wake themselves with. */
const OWN = /^anon_inode:\[?(?:eventfd|signalfd|inotify)\]?$/;

export function inputWaitOf(pids: readonly number[], device: string): InputWait | undefined {
  const found = pids.flatMap((pid) => threadsOf(pid).map((thread) => waitOfThread(pid, thread, device)));
  if (found.includes('busy')) return undefined;
  return found.includes('only') ? 'only' : found.includes('too') ? 'too' : undefined;
}

function waitOfThread(pid: number, thread: number, device: string): ThreadWait {
  const call = blockedCall(pid, thread);
  return call?.name === 'running' ? 'busy' : call && waitIn(pid, call, device);
}

function waitIn(pid: number, call: BlockedCall, device: string): InputWait | undefined {
  const { descriptors, isEndless } = inputsOfCall(pid, call);
  const others = descriptors.map((descriptor) => fileOf(pid, descriptor)).filter((file) => file !== device && file !== DEVICE_OF_CALLER);
  if (others.length === descriptors.length) return undefined;
  return isEndless && others.every((file) => OWN.test(file) || isOwnPipe(pid, file)) ? 'only' : 'too';
}

/** Both its ends are held here: a program's way to wake its own loop. */
function isOwnPipe(pid: number, file: string): boolean {
  return file.startsWith('pipe:') && numbersIn(`/proc/${pid}/fd`).filter((descriptor) => fileOf(pid, descriptor) === file).length > 1;
}

function threadsOf(pid: number): readonly number[] {
  return numbersIn(`/proc/${pid}/task`);
}

function numbersIn(folder: string): readonly number[] {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return []; // gone, or not ours to look at
  }
}
