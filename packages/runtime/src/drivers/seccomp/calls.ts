/**
 * The calls that a sandbox may make with whatever arguments: what programs use, which is what container engines usually allow, without
 * what nothing inside needs. Written as `name x64 arm64`, from the kernel's `unistd_64.h` and `asm-generic/unistd.h`.
 */
export const ALLOWED = syscalls(`
  read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, pwritev 296 70, preadv2 327 286,
  pwritev2 328 287, lseek 8 62, close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24, fcntl 72 25, flock 73 32,
  fsync 74 82, fdatasync 75 83, sync 162 81, syncfs 306 267, sync_file_range 277 84, fallocate 285 47, fadvise64 221 223,
  readahead 187 213, ftruncate 77 46, copy_file_range 326 285, sendfile 40 71, splice 275 76, tee 276 77, vmsplice 278 75, pipe 22 -,
  pipe2 293 59, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21,
  epoll_ctl_old 214 -, epoll_wait 232 -, epoll_wait_old 215 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -,
  eventfd2 290 19, signalfd 282 -, signalfd4 289 74, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87,
  inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27, inotify_rm_watch 255 28, memfd_create 319 279, cachestat 451 451
  stat 4 -, lstat 6 -, fstat 5 80, newfstatat 262 79, statx 332 291,
  access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getcwd 79 17, chdir 80 49, fchdir 81 50,
  getdents 78 -, getdents64 217 61, mkdir 83 -, mkdirat 258 34, rmdir 84 -, link 86 -, linkat 265 37,
  symlink 88 -, symlinkat 266 36, unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276, truncate 76 45,
  umask 95 166, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54,
  utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, statfs 137 43, fstatfs 138 44, setxattr 188 5, lsetxattr 189 6,
  fsetxattr 190 7, setxattrat 463 463, getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, getxattrat 464 464, listxattr 194 11,
  llistxattr 195 12, flistxattr 196 13, listxattrat 465 465, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
  removexattrat 466 466
  brk 12 214, mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233, mincore 27 232, msync 26 227, mlock 149 228,
  mlock2 325 284, munlock 150 229, mlockall 151 230, munlockall 152 231, mseal 462 462, pkey_alloc 330 289, pkey_free 331 290,
  pkey_mprotect 329 288, map_shadow_stack 453 453, membarrier 324 283, shmget 29 194, shmat 30 196, shmdt 67 197, shmctl 31 195,
  semget 64 190, semop 65 193, semtimedop 220 192, semctl 66 191, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187,
  mq_open 240 180, mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183, mq_notify 244 184, mq_getsetattr 245 185
  fork 57 -, vfork 58 -, clone 56 220, clone3 435 435, execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94, wait4 61 260,
  waitid 247 95, kill 62 129, tkill 200 130, tgkill 234 131, pidfd_open 434 434, pidfd_send_signal 424 424, rt_sigaction 13 134,
  rt_sigprocmask 14 135, rt_sigpending 127 136, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, rt_sigreturn 15 139,
  rt_sigsuspend 130 133, rt_sigtimedwait 128 137, sigaltstack 131 132, pause 34 -, restart_syscall 219 128, futex 202 98,
  futex_waitv 449 449, futex_wait 455 455, futex_wake 454 454, futex_requeue 456 456, set_robust_list 273 99, get_robust_list 274 100,
  set_tid_address 218 96, rseq 334 293, arch_prctl 158 -, get_thread_area 211 -, set_thread_area 205 -, uretprobe 335 -,
  sched_yield 24 124, sched_setaffinity 203 122, sched_getaffinity 204 123, sched_setscheduler 144 119, sched_getscheduler 145 120,
  sched_setparam 142 118, sched_getparam 143 121, sched_setattr 314 274, sched_getattr 315 275, sched_get_priority_max 146 125,
  sched_get_priority_min 147 126, sched_rr_get_interval 148 127, getcpu 309 168, getpriority 140 141, setpriority 141 140,
  ioprio_get 252 31, ioprio_set 251 30, prctl 157 167, seccomp 317 277, landlock_create_ruleset 444 444, landlock_add_rule 445 445,
  landlock_restrict_self 446 446
  getpid 39 172, getppid 110 173, gettid 186 178, getpgid 121 155, getpgrp 111 -, setpgid 109 154, getsid 124 156, setsid 112 157,
  getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150, getgroups 115 158,
  setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147, setresgid 119 149, setfsuid 122 151,
  setfsgid 123 152, setgroups 116 159, capget 125 90, capset 126 91, getrlimit 97 163, setrlimit 160 164, prlimit64 302 261,
  getrusage 98 165, times 100 153, sysinfo 99 179, uname 63 160, getrandom 318 278
  time 201 -, gettimeofday 96 169, clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101, alarm 37 -,
  getitimer 36 102, setitimer 38 103, timer_create 222 107, timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109,
  timer_delete 226 111
  bind 49 200, listen 50 201, accept 43 202, accept4 288 242, connect 42 203, shutdown 48 210, getsockname 51 204, getpeername 52 205,
  setsockopt 54 208, getsockopt 55 209, sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269,
  recvmmsg 299 243
`);

/**
 * For namespaces: the executor puts the agent's processes in some of their own, which are made inside this filter, and Chromium its
 * renderers. What each may do is bounded by them, not here: a filter sees flags of `clone` but not those that `clone3` has in memory.
 */
export const NAMESPACES = syscalls(`
  unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51
`);

/** Calls that are allowed with some arguments and refused with others. */
export const JUDGED = syscalls(`
  socket 41 198, socketpair 53 199, ioctl 16 29, personality 135 92
  open 2 -, openat 257 56, creat 85 -, mknod 133 -, mknodat 259 33, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452
`);

/**
 * Refused as without the permission: into other processes; keys, which are in no namespace; large parts of the kernel with a history
 * of holes; files past the mounts; the placing of memory; the machine itself. A program that only asks goes on.
 */
export const NOT_PERMITTED = syscalls(`
  ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, pidfd_getfd 438 438, kcmp 312 272, add_key 248 217,
  request_key 249 218, keyctl 250 219, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425,
  io_uring_enter 426 426, io_uring_register 427 427, open_by_handle_at 304 265, name_to_handle_at 303 264, fanotify_init 300 262,
  fanotify_mark 301 263, kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273,
  delete_module 176 106, reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89, quotactl 179 60, quotactl_fd 443 443,
  settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, syslog 103 116, iopl 172 -, ioperm 173 -,
  vhangup 153 58, sethostname 170 161, setdomainname 171 162, mbind 237 235, set_mempolicy 238 237, get_mempolicy 239 236,
  migrate_pages 256 238, move_pages 279 239
`);

/**
 * Every other call is answered as not existing, so that programs fall back and what a newer kernel adds is closed. These are the ones that
 * kernels have today, by name for container engines, whose own word for what a profile does not name is "not permitted": the kernel's
 * asynchronous input and output, of which the machine has one share (`fs.aio-max-nr`); newer calls for mounts, whose paths on the host
 * two of them reveal; odd kinds of memory; the opening whose mode lies in memory, where no filter sees it (`openat2`).
 */
export const NOT_IMPLEMENTED: readonly string[] = [
  ...['io_setup', 'io_submit', 'io_getevents', 'io_pgetevents', 'io_destroy', 'io_cancel'],
  ...['open_tree', 'open_tree_attr', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'statmount', 'listmount'],
  ...['memfd_secret', 'remap_file_pages', 'modify_ldt', 'process_madvise', 'process_mrelease', 'set_mempolicy_home_node'],
  ...['lookup_dcookie', 'nfsservctl', 'sysfs', 'ustat', 'uselib', 'lsm_get_self_attr', 'lsm_set_self_attr', 'lsm_list_modules', 'openat2'],
];

/** A call has its number on each processor; `undefined` where a processor has no such call. */
export type Syscalls = ReadonlyMap<string, Readonly<Record<Architecture, number | undefined>>>;
export type Architecture = (typeof ARCHITECTURES)[number];

export const ARCHITECTURES = ['x64', 'arm64'] as const;

/** Reads `name x64 arm64`, separated by commas or lines, with `-` for none. */
function syscalls(text: string): Syscalls {
  return new Map(
    text
      .trim()
      .split(/[,\n]\s*/)
      .map((call) => {
        const [name = '', x64, arm64] = call.split(' ');
        return [name, { x64: numberOf(x64), arm64: numberOf(arm64) }];
      }),
  );
}

function numberOf(text: string | undefined): number | undefined {
  return text === '-' ? undefined : Number(text);
}

export const ERRNO = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 } as const;

export const FAMILY = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
export const SOCK_TYPE_MASK = 0xf;
/** Of the internet streams and datagrams: no raw ones, and no SOCK_PACKET, by which an internet socket is one for packets. */
export const INTERNET_TYPES = [1, 2];
/** The usual one, TCP and UDP. Others (SCTP, DCCP, L2TP, MPTCP, SMC) would load whole modules of the kernel. */
export const INTERNET_PROTOCOLS = [0, 6, 17];
/** Routes and device events; not netfilter and the rest, which a nested namespace would have privileges for. */
export const NETLINK_PROTOCOLS = [0, 15];
/** Requests that put characters into a terminal as if typed. */
export const TERMINAL_INJECTIONS = [0x5412, 0x541c];
/** Linux as it is, the two old ways to name it, addresses that are not random (sanitizers), and the question which it is. */
export const PERSONALITIES = [0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff];

/** Set-user-id and set-group-id: a file with them would run as whom the host takes its owner for, root perhaps. */
export const SET_ID_BITS = 0o6000;
/** `O_CREAT` and `O_TMPFILE`: without them an opening takes no mode, and there is anything in its place. */
export const CREATING_FLAGS = 0o20000100;
/** Which argument is the mode of a new file or the new one of an old file, and which the flags that say whether there is one. */
export const MODES: ReadonlyMap<string, { readonly mode: number; readonly flags?: number }> = new Map([
  ['open', { flags: 1, mode: 2 }],
  ['openat', { flags: 2, mode: 3 }],
  ['creat', { mode: 1 }],
  ['mknod', { mode: 1 }],
  ['mknodat', { mode: 2 }],
  ['chmod', { mode: 1 }],
  ['fchmod', { mode: 1 }],
  ['fchmodat', { mode: 2 }],
  ['fchmodat2', { mode: 2 }],
]);
