import { assemble, type Step } from './bpf.ts';
import {
  ERRNO,
  FAMILY,
  NETLINK_PROTOCOLS,
  NOT_IMPLEMENTED,
  NOT_PERMITTED,
  SOCK_RAW,
  SOCK_TYPE_MASK,
  TERMINAL_INJECTIONS,
} from './refused.ts';
import { SYSCALLS, type Architecture, type SyscallName } from './syscalls.ts';

const AUDIT_ARCHITECTURE = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** Calls of the x32 interface on x64 carry this bit. */
const X32_BIT = 0x40000000;
const RETURN = { allow: 0x7fff0000, errno: 0x00050000 } as const;
/** Offsets in `struct seccomp_data`; of an argument its lower half, which is all the kernel reads of these. */
const DATA = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;

/** The program for `bwrap --seccomp`, for one architecture. Pure: the same bytes each time. */
export function sandboxFilter(architecture: Architecture): Uint8Array {
  const numbers = SYSCALLS[architecture];
  const jumps = (names: readonly SyscallName[], goto: string): readonly Step[] =>
    names.flatMap((name): Step[] => {
      const value = numbers[name];
      return value === undefined ? [] : [{ op: 'if-equal', value, goto }];
    });
  return assemble([
    { op: 'load', offset: DATA.architecture },
    { op: 'if-equal', value: AUDIT_ARCHITECTURE[architecture], goto: 'native' },
    { op: 'return', value: RETURN.errno | ERRNO.EPERM },
    { op: 'label', name: 'native' },
    { op: 'load', offset: DATA.number },
    ...(architecture === 'x64' ? [{ op: 'if-at-least', value: X32_BIT, goto: 'not-permitted' } as const] : []),
    { op: 'if-equal', value: numbers.socket, goto: 'socket' },
    { op: 'if-equal', value: numbers.ioctl, goto: 'ioctl' },
    ...jumps(NOT_PERMITTED, 'not-permitted'),
    ...jumps(NOT_IMPLEMENTED, 'not-implemented'),
    { op: 'goto', goto: 'allow' },
    ...socketSteps(),
    { op: 'label', name: 'ioctl' },
    { op: 'load', offset: DATA.argument(1) },
    ...TERMINAL_INJECTIONS.map((value): Step => ({ op: 'if-equal', value, goto: 'not-permitted' })),
    { op: 'goto', goto: 'allow' },
    { op: 'label', name: 'not-permitted' },
    { op: 'return', value: RETURN.errno | ERRNO.EPERM },
    { op: 'label', name: 'not-implemented' },
    { op: 'return', value: RETURN.errno | ERRNO.ENOSYS },
    { op: 'label', name: 'no-family' },
    { op: 'return', value: RETURN.errno | ERRNO.EAFNOSUPPORT },
    { op: 'label', name: 'allow' },
    { op: 'return', value: RETURN.allow },
  ]);
}

/** Local sockets, IP without raw access, and two kinds of netlink; no packets, no VSOCK to the hypervisor, nothing odd. */
function socketSteps(): readonly Step[] {
  return [
    { op: 'label', name: 'socket' },
    { op: 'load', offset: DATA.argument(0) },
    { op: 'if-equal', value: FAMILY.unix, goto: 'allow' },
    { op: 'if-equal', value: FAMILY.inet, goto: 'internet' },
    { op: 'if-equal', value: FAMILY.inet6, goto: 'internet' },
    { op: 'if-equal', value: FAMILY.netlink, goto: 'netlink' },
    { op: 'goto', goto: 'no-family' },
    { op: 'label', name: 'internet' },
    { op: 'load', offset: DATA.argument(1) },
    { op: 'and', mask: SOCK_TYPE_MASK },
    { op: 'if-equal', value: SOCK_RAW, goto: 'not-permitted' },
    { op: 'goto', goto: 'allow' },
    { op: 'label', name: 'netlink' },
    { op: 'load', offset: DATA.argument(2) },
    ...NETLINK_PROTOCOLS.map((value): Step => ({ op: 'if-equal', value, goto: 'allow' })),
    { op: 'goto', goto: 'no-family' },
  ];
}
