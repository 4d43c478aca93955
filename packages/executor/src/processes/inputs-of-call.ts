import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** What a blocked thread waits for. */
export interface Inputs {
  /** Any of these having something to read wakes it. */
  readonly descriptors: readonly number[];
  /** Nothing else will, no timer of its own either. */
  readonly isEndless: boolean;
}

const POLLIN = 0x01;
const EPOLLIN = 0x01;
const BYTES_PER_POLLED = 8;
const MAX_DESCRIPTORS = 1024;
/** −1 as an `int`, and as the kernel shows it. */
const FOREVER = 0xffff_ffff;

export function inputsOfCall(pid: number, { name, args }: BlockedCall): Inputs {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = args;
  if (name === 'running') return { descriptors: [], isEndless: false };
  if (name === 'read') return { descriptors: [first], isEndless: true };
  if (name === 'poll') return { descriptors: polled(pid, first, second), isEndless: isForever(third) };
  if (name === 'ppoll') return { descriptors: polled(pid, first, second), isEndless: third === 0 };
  if (name === 'select' || name === 'pselect6') return { descriptors: selected(pid, second, first), isEndless: fifth === 0 };
  return { descriptors: epolled(pid, first), isEndless: name === 'epoll_pwait2' ? fourth === 0 : isForever(fourth) };
}

function isForever(timeout: number): boolean {
  return timeout % (FOREVER + 1) === FOREVER || timeout > Number.MAX_SAFE_INTEGER;
}

/** `struct pollfd { int fd; short events; short revents; }` */
function polled(pid: number, address: number, count: number): number[] {
  const all = memoryOf(pid, address, Math.min(count, MAX_DESCRIPTORS) * BYTES_PER_POLLED);
  const found: number[] = [];
  for (let at = 0; at + BYTES_PER_POLLED <= all.length; at += BYTES_PER_POLLED) {
    if ((all.readInt16LE(at + 4) & POLLIN) !== 0) found.push(all.readInt32LE(at));
  }
  return found;
}

/** A set of bits. */
function selected(pid: number, address: number, count: number): number[] {
  if (address === 0) return [];
  const bits = memoryOf(pid, address, Math.ceil(Math.min(count, MAX_DESCRIPTORS) / 8));
  const descriptors = Array.from({ length: bits.length * 8 }, (_, descriptor) => descriptor);
  return descriptors.filter((descriptor) => descriptor < count && (bits[descriptor >> 3]! & (1 << (descriptor & 7))) !== 0);
}

function epolled(pid: number, descriptor: number): number[] {
  try {
    const lines = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1').matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm);
    return [...lines].filter(([, , events = '']) => (Number.parseInt(events, 16) & EPOLLIN) !== 0).map(([, watched]) => Number(watched));
  } catch {
    return [];
  }
}

/** Nothing where it cannot be read. */
function memoryOf(pid: number, address: number, length: number): Buffer {
  const memory = Buffer.alloc(length);
  try {
    const fd = openSync(`/proc/${pid}/mem`, 'r');
    try {
      return memory.subarray(0, readSync(fd, memory, 0, length, address));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/** The system call that blocks a thread, of those in which programs wait for input; or that none does. */
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
