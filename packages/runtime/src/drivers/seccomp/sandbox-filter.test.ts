import { describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { ALLOWED, JUDGED, NAMESPACES, NOT_IMPLEMENTED, NOT_PERMITTED, ARCHITECTURES, type Architecture, type Syscalls } from './calls.ts';
import { sandboxFilter } from './sandbox-filter.ts';

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EPROTONOSUPPORT = 0x0005005d;
const EAFNOSUPPORT = 0x00050061;
const ARCHITECTURE = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/** What the kernel would answer, and after how many of the few instructions that seccomp allows and we use. */
function steps(architecture: Architecture, call: number, args: readonly number[], audit: number): { verdict: number; count: number } {
  const bytes = sandboxFilter(architecture);
  const program = new DataView(bytes.buffer);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call, true);
  data.setUint32(4, audit, true);
  args.forEach((value, index) => data.setUint32(16 + 8 * index, value, true));
  let accumulator = 0;
  for (let at = 0, count = 1; at < bytes.length / 8; at += 1, count += 1) {
    const operand = program.getUint32(at * 8 + 4, true);
    const [whenTrue, whenFalse] = [program.getUint8(at * 8 + 2), program.getUint8(at * 8 + 3)];
    const code = program.getUint16(at * 8, true);
    if (code === 0x06) return { verdict: operand, count };
    if (code === 0x20) accumulator = data.getUint32(operand, true);
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0;
    else if (code === 0x05) at += operand;
    else if (code === 0x15) at += accumulator === operand ? whenTrue : whenFalse;
    else if (code === 0x35) at += accumulator >= operand ? whenTrue : whenFalse;
    else throw new Error(`instruction ${code}`);
  }
  throw new Error('fell off the end');
}

const run = (architecture: Architecture, call: number, args: readonly number[] = [], audit: number = ARCHITECTURE[architecture]): number =>
  steps(architecture, call, args, audit).verdict;

describe.each(ARCHITECTURES)('SB12: seccomp filter on %s', (architecture) => {
  const numbersOf = (calls: Syscalls): readonly number[] =>
    [...calls.values()].flatMap(({ [architecture]: number }) => (number === undefined ? [] : [number]));
  const numberOf = (name: string): number =>
    [ALLOWED, NAMESPACES, JUDGED, NOT_PERMITTED].map((calls) => calls.get(name)?.[architecture]).find((number) => number !== undefined)!;
  const verdicts = (names: readonly string[]): readonly number[] => [...new Set(names.map((name) => run(architecture, numberOf(name))))];

  it('allows what programs use, and the namespaces that are made inside it', () => {
    const used = ['clone', 'clone3', 'execve', 'futex', 'mmap', 'connect', 'fchmodat2', 'openat', 'landlock_restrict_self', 'seccomp'];
    expect(verdicts([...used, 'unshare', 'setns', 'mount', 'umount2', 'pivot_root', 'chroot'])).toEqual([ALLOW]);
    expect([...numbersOf(ALLOWED), ...numbersOf(NAMESPACES)].filter((call) => run(architecture, call) !== ALLOW)).toEqual([]);
  });

  it('refuses ptrace and its like, keys, bpf, file handles, and the machine', () => {
    const known = ['ptrace', 'process_vm_writev', 'kcmp', 'keyctl', 'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup'];
    expect(verdicts([...known, 'name_to_handle_at', 'open_by_handle_at', 'kexec_load', 'settimeofday', 'sethostname'])).toEqual([EPERM]);
    expect(numbersOf(NOT_PERMITTED).filter((call) => run(architecture, call) !== EPERM)).toEqual([]);
  });

  it('SB430: says of every other call, a newer kernel’s too, that it does not exist', () => {
    const named = [ALLOWED, NAMESPACES, JUDGED, NOT_PERMITTED].flatMap(numbersOf);
    expect(new Set(named).size).toBe(named.length);
    const others = Array.from({ length: 1000 }, (_, call) => call).filter((call) => !named.includes(call));
    expect(others.filter((call) => run(architecture, call) !== ENOSYS)).toEqual([]);
    const [openTree, fsopen, memfdSecret] = [428, 430, 447];
    expect(others).toEqual(expect.arrayContaining([openTree, fsopen, memfdSecret]));
    expect(NOT_IMPLEMENTED.filter((name) => numberOf(name) !== undefined)).toEqual([]);
  });

  it('SB342: says that there is no asynchronous input and output of the kernel, of which the machine has one share', () => {
    const ioSetup = { x64: 206, arm64: 0 }[architecture];
    expect(run(architecture, ioSetup, [60_000])).toBe(ENOSYS);
  });

  it('allows local and IP sockets, and no raw, packet, VSOCK or netfilter ones', () => {
    const socket = (...args: number[]): number => run(architecture, numberOf('socket'), args);
    const [stream, datagram, raw, cloexec] = [1, 2, 3, 0x80000];
    expect([socket(1, stream), socket(2, stream | cloexec), socket(10, datagram), socket(16, raw, 0)]).toEqual([
      ALLOW,
      ALLOW,
      ALLOW,
      ALLOW,
    ]);
    expect([socket(2, raw | cloexec), socket(10, raw)]).toEqual([EPERM, EPERM]);
    expect([socket(17, raw), socket(40, stream), socket(16, raw, 12), socket(38, 5)]).toEqual(Array(4).fill(EAFNOSUPPORT));
  });

  it('SB431: refuses packets by an internet socket, protocols beside TCP and UDP, and pairs of sockets that are not local', () => {
    const socket = (...args: number[]): number => run(architecture, numberOf('socket'), args);
    const [packets, sctp, multipath, udp] = [10, 132, 262, 17];
    expect([socket(2, packets, 0x300), socket(2, packets | 0x80000, 0x300), socket(2, 5)]).toEqual(Array(3).fill(EPERM));
    expect([socket(2, 1, sctp), socket(10, 1, multipath)]).toEqual(Array(2).fill(EPROTONOSUPPORT));
    expect(socket(10, 2, udp)).toBe(ALLOW);
    const pair = (family: number): number => run(architecture, numberOf('socketpair'), [family, 1, 0]);
    expect([pair(1), pair(2), pair(16), pair(30), pair(40)]).toEqual([ALLOW, ...Array<number>(4).fill(EAFNOSUPPORT)]);
  });

  it('SB540: refuses modes that make a file run as its owner or group, whichever call gives them', () => {
    const verdict = (name: string, ...args: number[]): number => run(architecture, numberOf(name), args);
    const [creating, temporary, reading] = [0o101, 0o20200002, 0];
    expect([verdict('openat', 0, 0, creating, 0o4755), verdict('openat', 0, 0, temporary, 0o2755)]).toEqual([EPERM, EPERM]);
    expect([verdict('openat', 0, 0, creating, 0o755), verdict('openat', 0, 0, reading, 0o7777)]).toEqual([ALLOW, ALLOW]);
    expect([0o4755, 0o2755, 0o6000, 0o1777].map((mode) => verdict('fchmodat', 0, 0, mode))).toEqual([EPERM, EPERM, EPERM, ALLOW]);
    expect([verdict('fchmod', 3, 0o4711), verdict('fchmodat2', 0, 0, 0o2711), verdict('mknodat', 0, 0, 0o104711)]).toEqual(
      Array(3).fill(EPERM),
    );
    if (architecture === 'arm64') return;
    expect([verdict('chmod', 0, 0o4755), verdict('creat', 0, 0o2755), verdict('mknod', 0, 0o104755)]).toEqual(Array(3).fill(EPERM));
    expect([verdict('open', 0, creating, 0o4755), verdict('open', 0, creating, 0o755)]).toEqual([EPERM, ALLOW]);
  });

  it('refuses to put characters into a terminal, and to become another kind of Linux', () => {
    const [ioctl, personality] = [numberOf('ioctl'), numberOf('personality')];
    expect([0x5412, 0x541c, 0x5413].map((request) => run(architecture, ioctl, [0, request]))).toEqual([EPERM, EPERM, ALLOW]);
    expect([0xffffffff, 0x40000, 0x100000].map((kind) => run(architecture, personality, [kind]))).toEqual([ALLOW, ALLOW, EPERM]);
  });

  it('refuses every call of a foreign architecture', () => {
    expect(run(architecture, 4, [], 0x40000003)).toBe(EPERM);
    expect(run('x64', 0x40000000 | 1)).toBe(EPERM);
  });

  it('comes to its word on a call in few steps', () => {
    const counts = Array.from({ length: 500 }, (_, call) => steps(architecture, call, [], ARCHITECTURE[architecture]).count);
    expect(Math.max(...counts)).toBeLessThan(24);
  });
});

it('SB12: the programs change only on purpose', () => {
  const hash = (architecture: Architecture): string => createHash('sha256').update(sandboxFilter(architecture)).digest('hex').slice(0, 16);
  expect({ x64: hash('x64'), arm64: hash('arm64') }).toMatchInlineSnapshot(`
    {
      "arm64": "fcf0c17816565508",
      "x64": "9eff450cdca29640",
    }
  `);
});
