import type { SyscallName } from './syscalls.ts';

/**
 * Calls that nothing in a sandbox needs and that open a way into other processes or the kernel. They fail like calls without
 * the permission; nothing is killed, so a program that only asks goes on. Nested user namespaces stay possible: the executor
 * puts its shells in one, and Chromium its renderers.
 */
export const NOT_PERMITTED: readonly SyscallName[] = [
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

/**
 * "Not implemented" instead, so that programs fall back: to mount(2), which nested namespaces use, and to threads from the kernel's
 * own asynchronous input and output, of which the whole machine has one share (`fs.aio-max-nr`).
 */
export const NOT_IMPLEMENTED: readonly SyscallName[] = [
  'io_setup',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
];

export const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

export const FAMILY = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
export const SOCK_TYPE_MASK = 0xf;
export const SOCK_RAW = 3;
/** Routes and device events; not netfilter and the rest, which a nested namespace would have privileges for. */
export const NETLINK_PROTOCOLS = [0, 15];
/** Put characters into a terminal as if typed. */
export const TERMINAL_INJECTIONS = [0x5412, 0x541c];
