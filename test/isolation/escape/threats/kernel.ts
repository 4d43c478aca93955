import type { Threat } from '../threat.ts';

/** More rights, and the kernel itself. */
export const KERNEL: readonly Threat[] = [
  {
    id: 'mounts',
    threat: 'changing what is mounted: new mounts, uncovering, the newer calls for it',
    probe: `
for script in ['mount -t tmpfs none /mnt', 'mount --bind / /mnt', 'umount -l /workspace', 'umount -l /proc', 'mount -o remount,rw /', 'mount -o remount,rw /usr',
               'mount -t proc none /tmp', 'mount -t cgroup -o memory none /tmp', 'chroot / true']:
    attempt(script, lambda: sh(script) or 'done')
attempt('fsopen', lambda: call('fsopen', b'tmpfs', 0))
attempt('open_tree', lambda: call('open_tree', -100, b'/', 1))
`,
  },
  {
    id: 'user-namespaces',
    threat: 'root of a namespace of one’s own, and with that power back out',
    probe: `
inside = 'unshare --user --map-root-user --mount --pid --net --ipc --uts --fork --mount-proc sh -c'
for script in ['umount -l /workspace', 'mount -o remount,rw /usr', 'cat /etc/shadow', 'ls -A /root/', 'mknod /tmp/own-disk b 8 0', 'cat /proc/1/root' + bait['secret'],
               'echo > /proc/sys/kernel/core_pattern', 'echo > /proc/sys/vm/drop_caches', 'mount -t sysfs none /mnt && ls /mnt/kernel/security',
               'mkdir -p /tmp/m; mount -t overlay -o lowerdir=/etc,upperdir=/tmp/m,workdir=/tmp/m none /etc && cat /etc/shadow', 'date -s 2001-01-01']:
    attempt(script, lambda: sh(f"{inside} '{script}'") or 'done')
attempt('two users', lambda: sh("unshare --user sh -c 'echo 0 0 65536 > /proc/self/uid_map'") or 'mapped')
for kind in ('mnt', 'net', 'pid', 'user'):
    attempt(f'join {kind} of process 1', lambda: call('setns', os.open(f'/proc/1/ns/{kind}', os.O_RDONLY), 0))
`,
  },
  {
    id: 'own-namespaces',
    threat: 'namespaces of one’s own, where one has rights over packets, netfilter, traffic control and mounts; allowing them again',
    probe: `
import glob
kinds = ['--user', '--user --net', '--user --mount', '--user --pid --fork', '--user --ipc', '--user --uts', '--user --cgroup', '--net', '--mount', '--pid --fork']
for kind in kinds:
    attempt('unshare ' + kind, lambda: sh(f'unshare {kind} true') or 'made')
    attempt('the same as root', lambda: sh(f'unshare --map-root-user {kind} true') or 'made')
for flags in (0x10000000, 0x50000000, 0x10020000):
    attempt(f'unshare(0x{flags:x})', lambda: check(libc.unshare(flags)))
settings = glob.glob('/proc/sys/user/max_*_namespaces')
attempt('there are settings', lambda: not settings and 'none')
for path in settings: attempt(path, lambda: open_for_writing(path))
`,
  },
  {
    id: 'setuid',
    threat: 'becoming root: setuid programs, file capabilities, the rights that are left',
    isControl: true,
    probe: `
status = dict(line.split(':\\t', 1) for line in open('/proc/self/status') if ':\\t' in line)
attempt('new privileges by exec', lambda: status['NoNewPrivs'].strip() != '1' and 'possible')
for name in ('CapEff', 'CapPrm', 'CapInh', 'CapAmb'):
    attempt(name, lambda: int(status[name], 16) and status[name])
attempt('root', lambda: os.geteuid() == 0 and 'is root')
attempt('setuid(0)', lambda: os.setuid(0) or 'became root')
for program in ['su root -c id', 'sudo -n id', 'mount /dev/sda /mnt', 'pkexec id']:
    attempt(program, lambda: sh(program + ' < /dev/null') or 'done')
sh('cp /bin/cat own-cat && chmod 4755 own-cat || true')
attempt('setuid program of its own', lambda: sh('./own-cat /etc/shadow'))
`,
  },
  {
    id: 'set-id-files',
    threat: 'a program in the workspace that runs as its owner on the host, who may be root: modes with set-user-id or set-group-id',
    isControl: true,
    probe: `
def mode_of(path): return os.stat(path).st_mode & 0o6000 and oct(os.stat(path).st_mode)
def made(name, act):
    def act_and_look():
        try:
            act(name)
            return mode_of(name)
        finally:
            if os.path.exists(name): os.unlink(name)
    attempt(name, act_and_look)
def changed(act):
    def of(name):
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755))
        act(name)
    return of
for bits in (0o4755, 0o2755):
    made(f'chmod-{bits:o}', changed(lambda name: os.chmod(name, bits)))
    made(f'fchmodat2-{bits:o}', changed(lambda name: call('fchmodat2', -100, name.encode(), bits, 0)))
    made(f'open-{bits:o}', lambda name: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, bits)))
    made(f'openat2-{bits:o}', lambda name: call('openat2', -100, name.encode(), (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, bits, 0), 24))
    made(f'mknod-{bits:o}', lambda name: os.mknod(name, 0o100000 | bits))
def temporary():
    holder = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755)
    return os.fstat(holder).st_mode & 0o6000 and 'made'
attempt('a file without a name', temporary)
`,
  },
  {
    id: 'kernel-calls',
    threat: 'the kernel’s larger interfaces: bpf, io_uring, perf, userfaultfd, fanotify, modules, the keyring',
    isControl: true,
    probe: `
attempt('io_uring_setup', lambda: call('io_uring_setup', 1, 0))
for name in ['bpf', 'perf_event_open', 'userfaultfd', 'fanotify_init', 'init_module', 'finit_module', 'add_key', 'request_key']:
    attempt(name, lambda: call(name, -1, 0, 0, 0, 0))
attempt('keyctl', lambda: call('keyctl', 0, -3, 0))
attempt('the list of keys', lambda: any('tendon' in line for line in open('/proc/keys')))
`,
  },
  {
    id: 'unlisted-calls',
    threat: 'calls that programs do not need and that nobody thought of refusing, a newer kernel’s among them',
    isControl: true,
    probe: `
attempt('kcmp', lambda: call('kcmp', os.getpid(), os.getpid(), 2, 0, 0))
attempt('name_to_handle_at', lambda: call('name_to_handle_at', -100, b'.', 0, 0, 0))
for name in ['adjtimex', 'io_submit', 'process_madvise', 'memfd_secret', 'mount_setattr', 'listmount']:
    attempt(name, lambda: call(name, -1, 0, 0, 0, 0))
`,
  },
  {
    id: 'foreign-calls',
    threat: 'the same calls by the numbers of another processor, which a filter of numbers would misread (i386, x32)',
    probe: `
import mmap
def foreign():
    # mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex('b814000000cd80c3'))
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
def others(ask):
    child = os.fork()
    if child == 0: os._exit(0 if ask() > 0 else 1)
    return os.waitpid(child, 0)[1] == 0 and 'answers'
if platform.machine() == 'x86_64': attempt('i386', lambda: others(foreign))
attempt('x32', lambda: others(lambda: libc.syscall(0x40000000 | 39)))
`,
  },
  {
    id: 'odd-sockets',
    threat: 'AF_VSOCK to the hypervisor, packets, raw sockets, kernel crypto, netfilter',
    probe: `
for family, kind, protocol, what in [(40, 1, 0, 'vsock'), (17, 3, 3, 'packets'), (38, 5, 0, 'kernel crypto'), (44, 3, 0, 'xdp'), (29, 3, 1, 'can'), (16, 3, 12, 'netfilter'),
                                     (16, 3, 6, 'ipsec'), (2, 3, 1, 'raw'), (10, 3, 58, 'raw of version 6'), (30, 1, 0, 'tipc'), (21, 5, 0, 'rds')]:
    attempt(what, lambda: socket.socket(family, kind, protocol))
`,
  },
  {
    id: 'sockets-by-another-name',
    threat:
      'the same as root of a network of one’s own, and by another name: packets by an internet socket (SOCK_PACKET), protocols that load modules, pairs of sockets',
    probe: `
def reach(result):
    code = ctypes.get_errno()
    if result == -1 and code in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT): raise OSError(code, os.strerror(code))
    return f'answers {result}, {errno.errorcode.get(code, code)}'
packets = 'import socket; print(socket.socket(2, 10, 0x300).getsockopt(1, 39))'
for inside in ('', 'unshare --user --map-root-user --net '):
    attempt(f'{inside}packets', lambda: sh(f"{inside}python3 -c '{packets}'"))
for protocol, what in ((262, 'several paths (MPTCP)'), (132, 'SCTP'), (33, 'DCCP'), (115, 'L2TP')):
    for kind in (1, 2): attempt(what, lambda: reach(libc.socket(2, kind, protocol)))
for family, kind, protocol in ((2, 1, 0), (16, 3, 12), (17, 3, 0), (30, 1, 0), (40, 1, 0)):
    attempt(f'a pair of family {family}', lambda: reach(libc.socketpair(family, kind, protocol, (ctypes.c_int * 2)())))
`,
  },
  {
    id: 'kernel-settings',
    threat: 'settings of the kernel: `core_pattern`, sysrq, sysctl, sysfs, hotplug helpers',
    probe: `
for path in ['sys/kernel/core_pattern', 'sys/kernel/modprobe', 'sys/kernel/hotplug', 'sys/kernel/randomize_va_space', 'sys/vm/drop_caches', 'sys/vm/overcommit_memory',
             'sys/fs/binfmt_misc/register', 'sys/net/ipv4/ip_forward', 'sysrq-trigger', 'irq/default_smp_affinity', 'mtrr']:
    attempt('/proc/' + path, lambda: open_for_writing('/proc/' + path))
for top in ['/sys/kernel', '/sys/power', '/sys/module', '/sys/fs', '/sys/firmware', '/sys/devices/system']:
    attempt(top, lambda: next((path for folder, _, files in os.walk(top) for path in [f'{folder}/{name}' for name in files] if os.access(path, os.W_OK)), None))
attempt('hostname', lambda: check(libc.sethostname(b'escaped', 7)))
`,
  },
  {
    id: 'devices',
    threat: 'devices: virtual machines, tunnels, FUSE, loop disks, terminals, input',
    isControl: true,
    probe: `
usual = {'null', 'zero', 'full', 'random', 'urandom', 'tty', 'console', 'ptmx', 'pts', 'shm', 'mqueue', 'core', 'fd', 'stdin', 'stdout', 'stderr'}
attempt('devices beyond the usual', lambda: sorted(set(os.listdir('/dev')) - usual))
for path in ['/dev/kvm', '/dev/net/tun', '/dev/fuse', '/dev/loop-control', '/dev/mapper/control', '/dev/vsock', '/dev/vhost-vsock', '/dev/uinput', '/dev/tty0', '/dev/hwrng']:
    attempt(path, lambda: os.open(path, os.O_RDWR))
`,
  },
  {
    id: 'control-groups',
    threat: 'leaving the limits: a `release_agent` that the host would run, limits that the inside could raise, groups above its own',
    probe: `
names = ('release_agent', 'notify_on_release', 'memory.limit_in_bytes', 'memory.max', 'pids.max', 'cpu.max', 'cpu.cfs_quota_us', 'cgroup.procs', 'devices.allow')
def writable(top):
    return next((path for folder, _, files in os.walk(top) for path in [f'{folder}/{name}' for name in files if name in names] if os.access(path, os.W_OK)), None)
attempt('/sys/fs/cgroup', lambda: writable('/sys/fs/cgroup'))
find = "find /tmp/groups " + ' '.join(f'-name {name} -o' for name in names)[:-3]
for kind in ['cgroup2', 'cgroup -o memory', 'cgroup -o rdma', 'cgroup -o pids']:
    script = f'mkdir -p /tmp/groups && mount -t {kind} none /tmp/groups && for each in $({find}); do (true >> "$each") 2>/dev/null && echo "$each"; done; true'
    attempt(f'mount {kind} as root of a namespace', lambda: sh(f"unshare --user --map-root-user --mount --cgroup sh -c '{script}'"))
`,
  },
];
