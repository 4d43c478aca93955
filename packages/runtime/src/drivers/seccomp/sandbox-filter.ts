import { assemble, type Step } from './bpf.ts';
import { SYSCALLS, type Architecture, type SyscallName } from './syscalls.ts';

/**
 * Calls that nothing in a sandbox needs and that open a way into other processes or the kernel. They fail like calls without
 * the permission; nothing is killed, so a program that only asks goes on. Nested user namespaces stay possible: the executor
 * puts its shells in one, and Chromium its renderers.
 */
const NOT_PERMITTED: readonly SyscallName[] = [
  // into other processes
  ...(['ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd'] as const),
  // keys outlive the sandbox and are not in any namespace
  ...(['add_key', 'request_key', 'keyctl'] as const),
  // large parts of the kernel, a history of holes
  ...(['bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const),
  // past the mounts, to any file of the same disk
  ...(['open_by_handle_at', 'lookup_dcookie', 'nfsservctl', 'fanotify_init'] as const),
  // the machine itself
  ...(['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module', 'reboot', 'swapon', 'swapoff'] as const),
  ...(['acct', 'quotactl', 'quotactl_fd', 'settimeofday', 'clock_settime', 'syslog', 'iopl', 'ioperm', 'vhangup'] as const),
];

/** "Not implemented" instead, so that programs fall back to mount(2), which nested namespaces use. */
const NOT_IMPLEMENTED: readonly SyscallName[] = [
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
];

const AUDIT_ARCHITECTURE = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** Calls of the x32 interface on x64 carry this bit. */
const X32_BIT = 0x40000000;
const RETURN = { allow: 0x7fff0000, errno: 0x00050000 } as const;
const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
/** Offsets in `struct seccomp_data`; of an argument its lower half, which is all the kernel reads of these. */
const DATA = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;

const FAMILY = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const SOCK_TYPE_MASK = 0xf;
const SOCK_RAW = 3;
/** Routes and device events; not netfilter and the rest, which a nested namespace would have privileges for. */
const NETLINK_PROTOCOLS = [0, 15];
/** Put characters into a terminal as if typed. */
const TERMINAL_INJECTIONS = [0x5412, 0x541c];

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
