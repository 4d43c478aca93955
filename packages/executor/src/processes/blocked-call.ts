import { readFileSync } from 'node:fs';

/** A system call that a thread sleeps in, of those in which programs wait for input; or that it sleeps in none. */
export interface BlockedCall {
  readonly name: CallName | 'running';
  readonly args: readonly number[];
}

type CallName = keyof typeof NUMBERS.x64;

const NUMBERS = {
  x64: { read: 0, poll: 7, select: 23, epoll_wait: 232, pselect6: 270, ppoll: 271, epoll_pwait: 281, epoll_pwait2: 441 },
  // It has fewer: what is left out there has no number.
  arm64: { read: 63, poll: -1, select: -1, epoll_wait: -1, pselect6: 72, ppoll: 73, epoll_pwait: 22, epoll_pwait2: 441 },
} as const;

const NAMES = new Map<number, CallName>(
  Object.entries(process.arch === 'arm64' ? NUMBERS.arm64 : NUMBERS.x64).map(([name, number]) => [number, name as CallName]),
);

/** Nothing for a thread that is in another call, is gone, or is not ours to look at. */
export function blockedCall(pid: number, thread = pid): BlockedCall | undefined {
  try {
    const [number = '', ...args] = readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'latin1').trimEnd().split(' ');
    if (number === 'running') return { name: number, args: [] };
    const name = /^\d+$/.test(number) ? NAMES.get(Number(number)) : undefined;
    return name && { name, args: args.map(Number) };
  } catch {
    return undefined;
  }
}
