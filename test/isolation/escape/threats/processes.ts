import type { Threat } from '../threat.ts';

/** Processes of the host, of the server and of the executor. */
export const PROCESSES: readonly Threat[] = [
  {
    id: 'host-processes',
    threat: 'seeing processes of the host in `/proc`',
    probe: `
mark = bait['mark']
attempt('command lines', lambda: sh(f"grep -al {mark[:8]}'{mark[8:]}' /proc/[0-9]*/cmdline || true"))
attempt('the server', lambda: sh("grep -alE 'v[i]test|d[o]ckerd|e[x]ecutor-host' /proc/[0-9]*/cmdline || true"))
`,
  },
  {
    id: 'ptrace',
    threat: 'reading and steering other processes: ptrace, their memory, their descriptors',
    isControl: true,
    probe: `
for pid in (1, os.getppid()):
    attempt(f'/proc/{pid}/mem', lambda: os.open(f'/proc/{pid}/mem', os.O_RDWR) and pid == 1 and 'open')
for pid in (1, os.getppid(), bait['pid']):
    # PTRACE_SEIZE stops nothing and ends with this program.
    attempt(f'ptrace {pid}', lambda: call('ptrace', 0x4206, pid, 0, 0))
    attempt(f'process_vm_readv {pid}', lambda: call('process_vm_readv', pid, 0, 0, 0, 0, 0))
attempt('pidfd_getfd', lambda: call('pidfd_getfd', call('pidfd_open', os.getpid(), 0) and -1, 0, 0))
`,
  },
  {
    id: 'signals',
    threat: 'signals to processes of the host',
    probe: `
attempt('a process of the host', lambda: os.kill(bait['pid'], 0) or 'can be signalled')
attempt('its group', lambda: os.killpg(bait['pid'], 0) or 'can be signalled')
`,
  },
  {
    id: 'kill-everything',
    threat: 'signals to everything, the executor and its first process',
    isRough: true,
    probe: `
import signal
for pid in (1, bait['pid'], -1):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
`,
  },
  {
    id: 'terminals',
    threat: 'typing into terminals (TIOCSTI, TIOCLINUX), those of others too',
    probe: `
import fcntl, glob
for request, what in ((0x5412, 'TIOCSTI'), (0x541c, 'TIOCLINUX')):
    attempt(what, lambda: fcntl.ioctl(0, request, b'x') is not None and 'typed')
    attempt(f'{what} with upper bits', lambda: check(libc.ioctl(0, ctypes.c_ulong(request | 1 << 32), ctypes.c_char_p(b'x'))))
own = {os.ttyname(0)} if os.isatty(0) else set()
attempt('terminals of others', lambda: [path for path in glob.glob('/dev/pts/[0-9]*') if path not in own and os.stat(path).st_uid != os.getuid()])
`,
  },
  {
    id: 'shared-memory',
    threat: 'memory, queues and semaphores that other processes of the host share',
    isControl: true,
    probe: `
libc.shmat.restype = ctypes.c_void_p
attempt('System V memory', lambda: [line for line in open('/proc/sysvipc/shm').readlines()[1:] if str(bait['shmKey']) in line.split()[:1]])
attempt('/dev/shm', lambda: read('/dev/shm/' + bait['mark']))
`,
  },
];
