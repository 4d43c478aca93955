import type { Threat } from '../threat.ts';

/** What belongs to the machine as a whole. */
export const MACHINE: readonly Threat[] = [
  {
    id: 'regained-rights',
    threat: 'getting back what was given up: capabilities, their bounds, new privileges, the filter of calls',
    probe: `
PR_CAPBSET_READ, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_SET_SECCOMP = 23, 28, 38, 47, 22
def prctl(*arguments):
    return check(libc.prctl(*arguments, *[0] * (5 - len(arguments))))
attempt('no new privileges taken back', lambda: prctl(PR_SET_NO_NEW_PRIVS, 0))
attempt('the filter taken off', lambda: prctl(PR_SET_SECCOMP, 0))
attempt('secure bits', lambda: prctl(PR_SET_SECUREBITS, 1))
for capability in (0, 6, 7, 12, 21, 38):
    attempt(f'capability {capability} for programs', lambda: prctl(PR_CAP_AMBIENT, 2, capability))
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
attempt('all capabilities', lambda: check(libc.capset(header, (ctypes.c_uint32 * 6)(*[0xffffffff] * 6))))
attempt('groups', lambda: os.setgroups([0]) or 'set')
attempt('the filter is there', lambda: 'Seccomp:\\t2' not in open('/proc/self/status').read() and 'no filter')
`,
  },
  {
    id: 'priorities',
    threat: 'going before others: priorities of processor and disk, real time, being spared when the memory runs out',
    probe: `
attempt('nice', lambda: os.nice(-5) < 0 and 'before others')
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    attempt(f'policy {policy}', lambda: os.sched_setscheduler(0, policy, os.sched_param(1)) or 'real time')
attempt('a deadline', lambda: check(libc.syscall(314 if platform.machine() == 'x86_64' else 274, 0, (ctypes.c_uint64 * 6)(48 | 6 << 32, 0, 0, 10**6, 10**7, 10**7), 0)))
attempt('the disk in real time', lambda: check(libc.syscall(251 if platform.machine() == 'x86_64' else 30, 1, 0, 1 << 13)))
def spared():
    with open('/proc/self/oom_score_adj', 'w') as file: file.write('-1')
    return 'spared'
attempt('spared', spared)
`,
  },
  {
    id: 'machine-calls',
    threat: 'the machine itself: restarting it, another kernel, swap, its clock, accounting, ports of the processor',
    probe: `
numbers = {'reboot': (169, 142), 'kexec_load': (246, 104), 'swapon': (167, 224), 'swapoff': (168, 225), 'acct': (163, 89), 'clock_settime': (227, 112), 'settimeofday': (164, 170),
           'quotactl': (179, 60), 'delete_module': (176, 106), 'vhangup': (153, 58), 'syslog': (103, 116)}
if platform.machine() == 'x86_64': numbers |= {'iopl': (172, 0), 'ioperm': (173, 0)}
NUMBERS.update(numbers)
arguments = {'iopl': (3,), 'ioperm': (0x80, 1, 1), 'clock_settime': (0, 0), 'swapon': (b'/no such', 0), 'swapoff': (b'/no such',), 'acct': (b'/no such',), 'syslog': (3, 0, 0)}
for name in numbers:
    attempt(name, lambda: call(name, *arguments.get(name, (0, 0, 0, 0))))
adjust = (ctypes.c_uint64 * 32)(1 << 14 | 2)
attempt('adjtimex', lambda: check(libc.adjtimex(adjust)))
attempt('date', lambda: sh('date -s 2001-01-01') or 'set')
`,
  },
  {
    id: 'kernel-views',
    threat: 'what the kernel shows of the whole machine and its memory: addresses, page tables, traces, debugging, keys',
    probe: `
for path in ['kcore', 'kmsg', 'kpagecount', 'kpageflags', 'kpagecgroup', 'slabinfo', 'vmallocinfo', 'pagetypeinfo', 'sched_debug', 'latency_stats', 'self/stack', '1/stack']:
    attempt('/proc/' + path, lambda: path not in ('self/stack', '1/stack') and os.path.getsize('/proc/' + path) >= 0 and read('/proc/' + path))
attempt('addresses of memory', lambda: [line for line in open('/proc/iomem') if not line.lstrip().startswith('00000000-00000000')])
attempt('addresses of the kernel', lambda: [line for line in open('/proc/kallsyms') if not line.startswith('0000000000000000')][:3])
attempt('keys', lambda: open('/proc/keys').readlines())
for path in ['/sys/kernel/debug', '/sys/kernel/tracing', '/sys/fs/bpf', '/sys/fs/pstore', '/sys/firmware/efi/efivars', '/sys/kernel/security']:
    attempt(path, lambda: os.listdir(path))
def physical():
    with open('/proc/self/pagemap', 'rb') as file:
        file.seek(id(file) // 4096 * 8)
        return int.from_bytes(file.read(8), 'little') & (1 << 55) - 1
attempt('physical addresses', physical)
`,
  },
  {
    id: 'writable-proc',
    threat: 'any file of `/proc` and `/sys` that can be written and is neither the process’s own nor of a namespace of its own',
    probe: `
own = ('/proc/sys/fs/mqueue/', '/proc/sys/kernel/msg', '/proc/sys/kernel/sem', '/proc/sys/kernel/shm', '/proc/sys/kernel/auto_msgmni', '/proc/sys/kernel/ns_last_pid', '/proc/sys/kernel/pid_max', '/proc/pressure/')
def writable(top, skipped):
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if folder != top or not (name.isdigit() or name in skipped)]
        for path in [f'{folder}/{name}' for name in names if not (folder == top and name in skipped)]:
            if path.startswith(own) or not os.access(path, os.W_OK): continue
            try: os.close(os.open(path, os.O_WRONLY))
            except OSError: continue
            return path
attempt('/proc', lambda: writable('/proc', {'self', 'thread-self'}))
attempt('/sys', lambda: writable('/sys', set()))
`,
  },
  {
    id: 'file-systems',
    threat: 'the kernel’s readers of disk formats, its debugging and its remote file systems, mounted as root of a namespace',
    probe: `
with open('image', 'wb') as file: file.truncate(2**20)
os.makedirs('/tmp/at', exist_ok=True)
kinds = ['ext4', 'xfs', 'btrfs', 'vfat', 'iso9660', 'squashfs', 'erofs', 'fuse', 'nfs', 'cifs', '9p', 'debugfs', 'tracefs', 'securityfs', 'configfs', 'pstore', 'efivarfs', 'hugetlbfs',
         'devtmpfs', 'selinuxfs', 'autofs', 'rpc_pipefs']
sources = {'fuse': 'fuse -o fd=0,rootmode=40000,user_id=0,group_id=0', '9p': 'none -o trans=fd,rfdno=0,wfdno=0', 'nfs': '127.0.0.1:/x -o addr=127.0.0.1', 'cifs': '//127.0.0.1/x'}
for kind in kinds:
    script = f'mount -i -t {kind} {sources.get(kind, "image")} /tmp/at'
    attempt(script, lambda: sh(f"unshare --user --map-root-user --mount sh -c '{script}'") == '' and 'mounted')
`,
  },
];
